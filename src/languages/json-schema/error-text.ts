import type { Fault } from './run.ts';

const longestName = 100;
const mostChoices = 10;

/** What a caller called something, as far as it is repeated. */
export const shown = (name: string) => (name.length > longestName ? `${name.slice(0, longestName)}…` : name);

export const listed = (values: readonly unknown[]): string => {
  const texts = values.slice(0, mostChoices).map(value => shown(JSON.stringify(value)));
  return values.length > mostChoices ? `${texts.join(', ')}, …` : texts.join(', ');
};

/** `FIELD: DESCRIPTION`, where the whole value is called by `root`. */
function faultText({ path, message }: Fault, root: string): string {
  const place = path.map(part => shown(String(part))).join('.');
  return `${place === '' ? root : place}: ${message}`;
}

const longestText = 8000;

/** All of them; of very many, as many as somebody would read. */
export function faultsText(faults: readonly Fault[], root: string): string {
  const text = faults.map(fault => faultText(fault, root)).join('; ');
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
