/** What a report says beside the pointer, or at a mark that keys have reached. */
const tip = document.getElementById("tip") as HTMLElement;

/** Shows a text beside a place of the window. */
export function showTip(text: string, x: number, y: number): void {
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 14 + width > window.innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > window.innerHeight ? y - 14 - height : y + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

export function hideTip(): void {
  tip.hidden = true;
}
