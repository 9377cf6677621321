// Rings around any number of nodes, in one draw call.
import * as THREE from "three";

const VERTEX = `
attribute float size;
varying float vPixels;
uniform float scale; uniform float least; uniform float most;
void main() {
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * place;
  gl_PointSize = clamp(1.7 * size * scale / -place.z, least, most);
  vPixels = gl_PointSize;
}`;
const FRAGMENT = `
varying float vPixels;
uniform vec3 colour;
void main() {
  float far = length(gl_PointCoord * 2.0 - 1.0);
  if (far > 1.0 || far < 1.0 - max(0.14, 5.0 / vPixels)) discard;
  gl_FragColor = vec4(colour, 1.0);
  #include <colorspace_fragment>
}`;

export class Rings {
  readonly object: THREE.Points<THREE.BufferGeometry, THREE.ShaderMaterial>;
  nodes: number[] = [];

  constructor(density: number) {
    const material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { scale: { value: 1 }, least: { value: 13 * density }, most: { value: 60 * density }, colour: { value: new THREE.Color() } },
      depthTest: false,
    });
    this.object = new THREE.Points(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 9;
    this.object.visible = false;
  }

  /** Around other nodes: where they are, and how large each is drawn. */
  set(nodes: number[], positions: Float32Array, size: (node: number) => number): void {
    this.nodes = nodes;
    this.object.visible = nodes.length > 0;
    const places = new Float32Array(3 * nodes.length);
    nodes.forEach((node, at) => places.set(positions.subarray(3 * node, 3 * node + 3), 3 * at));
    this.object.geometry.dispose();
    this.object.geometry = new THREE.BufferGeometry();
    this.object.geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
    this.object.geometry.setAttribute("size", new THREE.BufferAttribute(Float32Array.from(nodes, size), 1));
  }

  colour(colour: string): void {
    (this.object.material.uniforms["colour"]!.value as THREE.Color).set(colour);
  }

  scale(scale: number): void {
    this.object.material.uniforms["scale"]!.value = scale;
  }
}
