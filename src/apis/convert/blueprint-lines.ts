import { createTextProblem } from './problems.ts';

/** A line of an API Blueprint. */
export interface BlueprintLine {
  /** From 1. */
  readonly number: number;
  /** With tabs as four spaces. */
  readonly text: string;
  readonly indent: number;
  /** Part of a fenced code block, its fences included: no Markdown. */
  readonly isFenced: boolean;
}

/** A header and the lines up to the next one. */
export interface HeaderSection {
  readonly title: string;
  readonly level: number;
  readonly number: number;
  readonly lines: readonly BlueprintLine[];
}

/** A list item that starts a section, such as `+ Response 200`, and the lines up to the next one. */
export interface ListSection {
  readonly title: string;
  readonly number: number;
  readonly lines: readonly BlueprintLine[];
}

const maxLines = 200_000;

export const createLineProblem = (number: number, reason: string) => createTextProblem(`line ${number}: ${reason}`);

/** Shown part of a line in errors and warnings. */
export const shorten = (text: string) => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

export function splitBlueprintLines(text: string): BlueprintLine[] {
  const all = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  if (all.length > maxLines) throw createTextProblem(`it has more than ${maxLines} lines`);
  let fence = '';
  return all.map((given, index) => {
    const line = given.replaceAll('\t', '    ').trimEnd();
    const start = line.trimStart();
    const marker = start.slice(0, 3);
    const isMarker = marker === '```' || marker === '~~~';
    const isFenced = isMarker || fence !== '';
    if (isMarker) fence = fence === '' ? marker : fence === marker ? '' : fence;
    return { number: index + 1, text: line, indent: line.length - start.length, isFenced };
  });
}

const headerPattern = /^(#{1,6})\s*([^#\s].*)$/;

/** Lines before the first header, and the sections of headers. */
export function splitByHeader(lines: readonly BlueprintLine[]) {
  const preamble: BlueprintLine[] = [];
  const sections: (HeaderSection & { readonly lines: BlueprintLine[] })[] = [];
  for (const line of lines) {
    const header = line.isFenced ? null : headerPattern.exec(line.text);
    if (header) {
      const title = trimHeader(header[2]!);
      sections.push({ title, level: header[1]!.length, number: line.number, lines: [] });
    } else (sections.at(-1)?.lines ?? preamble).push(line);
  }
  return { preamble, sections };
}

/** Markdown closes a header with optional number signs. */
function trimHeader(text: string): string {
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return (end < text.length && text[end - 1] === ' ' ? text.slice(0, end) : text).trim();
}

const itemPattern = /^[-+*]\s+(\S.*)$/;

/** Text of a list item; undefined for other lines. */
export const readItem = ({ text, isFenced }: BlueprintLine): string | undefined =>
  isFenced ? undefined : itemPattern.exec(text.trimStart())?.[1];

/** Description, then the sections of list items that `isStart` accepts, up to an indent. */
export function splitByItem(
  lines: readonly BlueprintLine[],
  isStart: (title: string) => boolean,
  maxIndent: number,
): { readonly description: readonly BlueprintLine[]; readonly sections: readonly ListSection[] } {
  const description: BlueprintLine[] = [];
  const sections: (ListSection & { readonly lines: BlueprintLine[] })[] = [];
  for (const line of lines) {
    const title = line.indent <= maxIndent ? readItem(line) : undefined;
    if (title !== undefined && isStart(title)) sections.push({ title, number: line.number, lines: [] });
    else (sections.at(-1)?.lines ?? description).push(line);
  }
  return { description, sections };
}

/** Text of some lines without their common indent, blank ends and fences. */
export function joinLines(lines: readonly BlueprintLine[]): string {
  const isBlank = ({ text }: BlueprintLine) => text.trim() === '';
  const first = lines.findIndex(line => !isBlank(line));
  if (first < 0) return '';
  let own = lines.slice(first, lines.findLastIndex(line => !isBlank(line)) + 1);
  if (own[0]!.isFenced && /^(?:```|~~~)/.test(own[0]!.text.trimStart()))
    own = own.slice(1, own.length > 1 && own.at(-1)!.isFenced ? -1 : undefined);
  const indent = own.reduce((least, line) => (isBlank(line) ? least : Math.min(least, line.indent)), Infinity);
  return own.map(({ text }) => text.slice(indent)).join('\n');
}
