/** Where the nodes of a fabric lie, in a square of 1 by 1: tiers above each other, groups side by side. */

export interface Node {
  id: number;
  name: string;
  tier: number;
  kind: string;
  group?: number | null;
}
export interface Link {
  a: number;
  b: number;
  rate_bps: number;
}

export interface Layout {
  x: Float32Array;
  y: Float32Array;
  /** Half the width and height of a node's box, as a share of the picture. */
  w: Float32Array;
  h: Float32Array;
  /** Place of a node in the list by its id. */
  index: Map<number, number>;
  /** Cables as pairs of places, with the number of parallel ones. */
  cables: { a: number; b: number; links: number[] }[];
}

function neighbours(nodes: Node[], links: Link[], index: Map<number, number>): number[][] {
  const near: number[][] = nodes.map(() => []);
  for (const link of links) {
    const [a, b] = [index.get(link.a), index.get(link.b)];
    if (a === undefined || b === undefined) continue;
    near[a]?.push(b);
    near[b]?.push(a);
  }
  return near;
}

const isHost = (node: Node | undefined): boolean => node?.kind === "host";

export function layout(nodes: Node[], links: Link[]): Layout {
  const index = new Map(nodes.map((node, at) => [node.id, at]));
  const near = neighbours(nodes, links, index);
  const made: Layout = {
    x: new Float32Array(nodes.length),
    y: new Float32Array(nodes.length),
    w: new Float32Array(nodes.length),
    h: new Float32Array(nodes.length),
    index,
    cables: cables(links, index),
  };
  const flat = links.some((link) => {
    const [a, b] = [nodes[index.get(link.a) ?? -1], nodes[index.get(link.b) ?? -1]];
    return a && b && !isHost(a) && !isHost(b) && a.tier === b.tier;
  });
  if (flat) circles(nodes, near, made);
  else tiers(nodes, near, made);
  return made;
}

function cables(links: Link[], index: Map<number, number>): Layout["cables"] {
  const found = new Map<string, { a: number; b: number; links: number[] }>();
  links.forEach((link, at) => {
    const [a, b] = [index.get(link.a), index.get(link.b)];
    if (a === undefined || b === undefined) return;
    const key = `${Math.min(a, b)}-${Math.max(a, b)}`;
    const cable = found.get(key);
    if (cable) cable.links.push(at);
    else found.set(key, { a, b, links: [at] });
  });
  return [...found.values()];
}

/** Trees: a row for each tier, hosts as a block under their leaf. */
function tiers(nodes: Node[], near: number[][], made: Layout): void {
  const places = nodes.map((_, at) => at);
  const hosts = places.filter((at) => isHost(nodes[at]));
  const switches = places.filter((at) => !isHost(nodes[at]));
  const levels = [...new Set(switches.map((at) => nodes[at]?.tier ?? 0))].sort((a, b) => a - b);
  const rows = levels.map((level) => switches.filter((at) => nodes[at]?.tier === level));
  const top = 0.06;
  const floor = hosts.length > 0 ? 0.66 : 0.94;
  rows.forEach((row, at) => {
    const y = rows.length === 1 ? 0.3 : floor - (at / (rows.length - 1)) * (floor - top);
    // Switches stand above the middle of what is below them, so that pods stay together.
    const below = (one: number) => {
      const lower = (near[one] ?? []).filter((other) => at > 0 && nodes[other]?.tier === levels[at - 1]);
      return lower.length ? lower.reduce((sum, other) => sum + (made.x[other] ?? 0), 0) / lower.length : 0;
    };
    const sorted = at === 0 ? row : [...row].sort((a, b) => below(a) - below(b) || a - b);
    sorted.forEach((one, place) => {
      made.x[one] = (place + 0.5) / sorted.length;
      made.y[one] = y;
      made.w[one] = 0.44 / sorted.length;
      made.h[one] = 0.02;
    });
  });
  const width = 1 / Math.max(rows[0]?.length ?? 1, 1);
  const blocks = new Map<number, number[]>();
  for (const host of hosts) {
    const leaf = (near[host] ?? []).find((other) => !isHost(nodes[other])) ?? -1;
    blocks.set(leaf, [...(blocks.get(leaf) ?? []), host]);
  }
  const most = Math.max(1, ...[...blocks.values()].map((block) => block.length));
  const wide = Math.max(1, Math.min(most, Math.round(Math.sqrt(most * width * (width > 0.4 ? 16 : 6)))));
  const lines = Math.ceil(most / wide);
  const columns = Math.ceil(most / lines);
  const stepX = (width * 0.86) / columns;
  const stepY = Math.min(0.23 / lines, 0.05);
  for (const [leaf, block] of blocks) {
    const middle = leaf < 0 ? 0.5 : (made.x[leaf] ?? 0.5);
    block.forEach((host, at) => {
      made.x[host] = middle + ((at % columns) - (columns - 1) / 2) * stepX;
      made.y[host] = 0.77 + Math.floor(at / columns) * stepY;
      made.w[host] = stepX * 0.42;
      made.h[host] = Math.min(stepY * 0.4, 0.016);
    });
  }
}

/** Dragonflies and other fabrics without tiers: groups on a circle, the switches of one on a smaller circle. */
function circles(nodes: Node[], near: number[][], made: Layout): void {
  const switches = nodes.map((_, at) => at).filter((at) => !isHost(nodes[at]));
  const groups = new Map<number, number[]>();
  for (const at of switches) {
    const group = nodes[at]?.group ?? (switches.length > 40 ? Math.floor(at / Math.ceil(Math.sqrt(switches.length))) : at);
    groups.set(group, [...(groups.get(group) ?? []), at]);
  }
  const list = [...groups.values()];
  const around = list.length === 1 ? 0 : 0.36;
  const inner = Math.min(0.1, (Math.PI * 0.36) / list.length) * (list.length === 1 ? 3 : 0.72);
  list.forEach((members, place) => {
    const turn = (place / list.length) * 2 * Math.PI - Math.PI / 2;
    const [cx, cy] = [0.5 + around * Math.cos(turn), 0.5 + around * Math.sin(turn)];
    members.forEach((one, at) => {
      const own = members.length === 1 ? turn : (at / members.length) * 2 * Math.PI + turn;
      const radius = members.length === 1 ? 0 : inner;
      made.x[one] = cx + radius * Math.cos(own);
      made.y[one] = cy + radius * Math.sin(own);
      made.w[one] = Math.min(0.015, inner * 0.34);
      made.h[one] = made.w[one] ?? 0.01;
      const hosts = (near[one] ?? []).filter((other) => isHost(nodes[other]));
      hosts.forEach((host, seat) => {
        const spread = (seat - (hosts.length - 1) / 2) * Math.min(0.24, 1.4 / Math.max(hosts.length, 1));
        const out = radius + Math.min(0.06, inner * 0.75 + 0.02);
        made.x[host] = cx + out * Math.cos(own + spread);
        made.y[host] = cy + out * Math.sin(own + spread);
        made.w[host] = Math.min(0.006, inner * 0.14);
        made.h[host] = made.w[host] ?? 0.004;
      });
    });
  });
}
