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
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function toCurl({ method, url, headers = {}, body, text }: CommandRequest): string {
  const given = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  const content = body === undefined ? [] : [`-H 'Content-Type: application/json' -d ${quote(JSON.stringify(body))}`];
  const data = text === undefined ? [] : [`--data-raw ${quote(text)}`];
  return ['curl -sS', ...(method === 'GET' ? [] : [`-X ${method}`]), ...given, ...content, ...data, quote(url)].join(
    ' ',
  );
}
