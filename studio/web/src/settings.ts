// Settings that outlive the page, where the browser keeps any.

export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // A page in a sandbox has nowhere to keep it.
  }
}
