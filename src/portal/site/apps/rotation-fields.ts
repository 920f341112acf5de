import { html, type Markup } from '../markup.ts';

/** Times for which the old key stays valid after a rotation. */
const overlapChoices = [
  [0, 'at once'],
  [3600, 'in an hour'],
  [86_400, 'in a day'],
  [604_800, 'in a week'],
] as const;
const defaultOverlap = 86_400;

/** Consequence and button of a rotation, with the overlaps that the maximum allows, a day chosen or the longest shorter one. */
export function renderRotationFields(maxSeconds: number): Markup {
  const offered = overlapChoices.filter(([seconds]) => seconds <= maxSeconds);
  const chosen = offered.findLast(([seconds]) => seconds <= defaultOverlap)![0];
  return html`<p>A new key replaces this one. Both are accepted until the old key ends; from then on, calls with the
old one are refused.</p><p><label>Old key ends <select name="overlap">${offered.map(
    ([seconds, text]) => html`<option value="${seconds}"${seconds === chosen ? html` selected` : ''}>${text}</option>`,
  )}</select></label></p><button>Rotate key</button>`;
}

/** Seconds of a choice of the form; the old key is refused at once without one. */
export const readOverlap = (text: string): number =>
  overlapChoices.find(([seconds]) => String(seconds) === text)?.[0] ?? 0;
