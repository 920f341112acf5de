import { saveAddress } from './save-file.ts';

/** A canvas resolves no light-dark(): the colour is computed by an element. */
export function toCanvasColour(parent: HTMLElement, value: string): string {
  const probe = document.createElement('span');
  probe.style.color = value;
  parent.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/** Height of the line above the plot, in CSS pixels. */
const titleHeight = 28;
const margin = 8;

/** Saves the plot in an element as PNG: its canvas on the background of the page, with a title above. */
export function saveChart(element: HTMLElement, title: string, name: string): void {
  const plot = element.querySelector('canvas');
  if (!plot) return;
  const style = getComputedStyle(element);
  const colour = (token: string) => toCanvasColour(element, style.getPropertyValue(token));
  const ratio = devicePixelRatio;
  const image = document.createElement('canvas');
  image.width = plot.width;
  image.height = plot.height + titleHeight * ratio;
  const context = image.getContext('2d')!;
  context.fillStyle = colour('--surface');
  context.fillRect(0, 0, image.width, image.height);
  context.fillStyle = colour('--ink');
  context.font = `${14 * ratio}px ${style.fontFamily}`;
  context.textBaseline = 'middle';
  context.fillText(title, margin * ratio, (titleHeight * ratio) / 2, image.width - 2 * margin * ratio);
  context.drawImage(plot, 0, titleHeight * ratio);
  image.toBlob(blob => {
    if (!blob) return;
    const address = URL.createObjectURL(blob);
    saveAddress(address, name);
    setTimeout(() => URL.revokeObjectURL(address));
  }, 'image/png');
}
