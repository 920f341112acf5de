import { CopyButton } from './copy.tsx';

/** A command for a shell, with a button that copies it. */
export const CommandText = ({ command, label }: { command: string; label: string }) => (
  <div className="flex items-start gap-1 rounded-control border border-line bg-page pl-3">
    <pre className="min-w-0 grow py-2 font-mono text-small break-all whitespace-pre-wrap">{command}</pre>
    <CopyButton text={command} label={label} />
  </div>
);

export interface CommandRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Single quotes of a POSIX shell: nothing inside is expanded. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

export function toCurl({ method, url, headers = {}, body }: CommandRequest): string {
  const given = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  const content = body === undefined ? [] : [`-H 'Content-Type: application/json' -d ${quote(JSON.stringify(body))}`];
  return ['curl -sS', ...(method === 'GET' ? [] : [`-X ${method}`]), ...given, ...content, quote(url)].join(' ');
}
