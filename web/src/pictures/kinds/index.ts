/** All kinds of pictures, by the words that `kind` has in their data; `docs/extending.md` says how one is added. */
export { bars } from "./bars";
export { cells } from "./cells";
export { chain } from "./chain";
export { circuits } from "./circuits";
export { heat } from "./heat";
export { lines } from "./lines";
export { matrix } from "./matrix";
export { operations } from "./operations";
export { parts } from "./parts";
export { timeline } from "./timeline";
