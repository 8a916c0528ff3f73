/** All pictures of tables, by the words that pins in a notebook have; `docs/extending.md` says how one is added. */
export { pairs } from "./queue-pairs";
