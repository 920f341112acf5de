import { quoteShell } from '../../../kit/curl.ts';

/** Request of the try page. */
export interface TriedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const formatCurl = ({ method, url, headers, body }: TriedRequest): string =>
  [
    `curl -i -X ${method} ${quoteShell(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`),
    ...(body === '' ? [] : [`--data-binary ${quoteShell(body)}`]),
  ].join(' \\\n  ');

export const toFetch = ({ method, url, headers, body }: TriedRequest): string =>
  `await fetch(${JSON.stringify(url)}, ${JSON.stringify({ method, headers, ...(body === '' ? {} : { body }) }, null, 2)});`;

/** Headers of a text with one `Name: value` in each line; lines without a colon are faults. */
export function parseHeaderLines(text: string): { headers: Record<string, string>; faults: readonly string[] } {
  const lines = text.split('\n').filter(line => line.trim() !== '');
  const faults = lines.filter(line => line.indexOf(':') < 1);
  const pairs = lines
    .filter(line => line.indexOf(':') > 0)
    .map(line => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()] as const);
  return { headers: Object.fromEntries(pairs), faults };
}
