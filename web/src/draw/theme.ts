/** The colours of drawings. They are values, not CSS variables, so that a drawing stands alone. */
export interface Theme {
  ground: string;
  panel: string;
  ink: string;
  soft: string;
  rule: string;
  accent: string;
  good: string;
  bad: string;
  /** Least and greatest of a ramp. */
  cold: string;
  hot: string;
  /** Ramp of the load of links: none, half, all. */
  idle: string;
  half: string;
  full: string;
  series: readonly string[];
}

export const LIGHT: Theme = {
  ground: "#ffffff",
  panel: "#f6f7f9",
  ink: "#1b2430",
  soft: "#5b6776",
  rule: "#dde2e8",
  accent: "#0b5cad",
  good: "#1d7a4c",
  bad: "#b3261e",
  cold: "#e8edf3",
  hot: "#0b3f7d",
  idle: "#b4bfca",
  half: "#e07b12",
  full: "#7d0a25",
  series: ["#0b5cad", "#d1600c", "#1d7a4c", "#9a3fb0", "#b58900", "#0d8a94", "#c2366b", "#66707c"],
};

export const DARK: Theme = {
  ground: "#12171e",
  panel: "#1a212a",
  ink: "#e4e9ef",
  soft: "#9aa7b5",
  rule: "#303a46",
  accent: "#7db7f5",
  good: "#63c794",
  bad: "#ff8a80",
  cold: "#222c38",
  hot: "#8ac4ff",
  idle: "#485463",
  half: "#d9822b",
  full: "#ffe9b0",
  series: ["#6cb0f5", "#f29a54", "#63c794", "#d08be2", "#e0bb45", "#4fc6cf", "#f07ba6", "#a3adb9"],
};

export type Rgb = [number, number, number];

export function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function between(a: Rgb, b: Rgb, share: number): Rgb {
  return [0, 1, 2].map((at) => Math.round((a[at] ?? 0) + ((b[at] ?? 0) - (a[at] ?? 0)) * share)) as Rgb;
}

/** The colour of a share from 0 to 1 between `cold` and `hot`. */
export function ramp(theme: Theme, share: number): Rgb {
  return between(rgb(theme.cold), rgb(theme.hot), Math.min(Math.max(share, 0), 1));
}

/** The colour of a load from 0 to 1: idle, half, full. */
export function loadColour(theme: Theme, load: number): Rgb {
  const share = Math.min(Math.max(load, 0), 1);
  return share < 0.5
    ? between(rgb(theme.idle), rgb(theme.half), share * 2)
    : between(rgb(theme.half), rgb(theme.full), share * 2 - 1);
}

export const css = ([r, g, b]: Rgb): string => `rgb(${r} ${g} ${b})`;

/** A colour of less weight than the same in full. */
export const pale = (theme: Theme, colour: string): string => css(between(rgb(colour), rgb(theme.ground), 0.55));

/** Kinds of dashes, by which lines of one colour are told apart. */
export const DASHES = ["", "7 4", "2 3", "9 3 2 3"];

/** Series 0, 1, … have a colour each; beyond the list they repeat it with another dash. */
export function stroke(theme: Theme, series: number): { colour: string; dash: string } {
  const count = theme.series.length;
  return {
    colour: theme.series[series % count] ?? theme.ink,
    dash: DASHES[Math.floor(series / count) % DASHES.length] ?? "",
  };
}
