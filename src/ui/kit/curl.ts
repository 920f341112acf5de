export interface CommandRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** A body as it is; its type is among the headers. */
  readonly text?: string;
}

/** Single quotes of a POSIX shell: nothing inside is expanded. */
export const quoteShell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function toCurl({ method, url, headers = {}, body, text }: CommandRequest): string {
  const given = Object.entries(headers).map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`);
  const content =
    body === undefined ? [] : [`-H 'Content-Type: application/json' -d ${quoteShell(JSON.stringify(body))}`];
  const data = text === undefined ? [] : [`--data-raw ${quoteShell(text)}`];
  return [
    'curl -sS',
    // Brackets and braces of an address are ranges and lists for curl.
    ...(/[[\]{}]/.test(url) ? ['-g'] : []),
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...given,
    ...content,
    ...data,
    quoteShell(url),
  ].join(' ');
}
