/** What there is to choose from. */
export interface Option {
  value: string;
  label: string;
}

/** The options that have all of the words. */
export function fitting(options: readonly Option[], text: string): Option[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return options.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
}
