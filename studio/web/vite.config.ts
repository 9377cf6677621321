// Builds one HTML file with everything inside: the program embeds it, and an exported view is the same file with data.
import { defineConfig, type Plugin } from "vite";

function singleFile(): Plugin {
  return {
    name: "single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("there is no page to put scripts and styles into");
      let html = String(page.source);
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") {
          const code = file.code.replace(/<\/script/g, "<\\/script");
          const tag = new RegExp(`<script type="module"[^>]*src="[^"]*${file.fileName}"[^>]*></script>`);
          html = html.replace(tag, "");
          html = html.replace("</body>", () => `<script type="module">${code}</script></body>`);
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          const tag = new RegExp(`<link rel="stylesheet"[^>]*href="[^"]*${file.fileName}"[^>]*>`);
          html = html.replace(tag, () => `<style>${String(file.source)}</style>`);
          delete bundle[name];
        }
      }
      page.source = html;
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [singleFile()],
  build: {
    outDir: "../../crates/studio/assets/page",
    emptyOutDir: true,
    assetsInlineLimit: 1_000_000,
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 1_500,
  },
});
