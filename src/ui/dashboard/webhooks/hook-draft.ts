import type { ResultOf } from '../../kit/calls.ts';
import { webhookTexts } from '../../texts/en/webhooks.ts';

const own = webhookTexts;

export type HookData = ResultOf<'GET /api/hooks/{hookId}'>;
export type HookBody = Pick<HookData, 'name' | 'target_path' | 'template_path' | 'header_map' | 'event_timeout'> & {
  readonly method: HookMethod;
  readonly webhook_id?: string;
};

export const hookMethods = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] as const;
export type HookMethod = (typeof hookMethods)[number];

export const emptyHook: HookBody = {
  name: '',
  method: 'POST',
  target_path: '',
  template_path: '',
  header_map: {},
  event_timeout: 0,
};

/** Mask of the server: a write with it keeps the stored value. */
const headerMask = '********';
const maskHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.keys(headers).map(name => [name, headerMask]));

/** Members of a write; saved header values may be credentials, and are not shown. */
export const toHookBody = (hook: HookData): HookBody => ({
  name: hook.name,
  method: hook.method as HookMethod,
  target_path: hook.target_path,
  template_path: hook.template_path,
  header_map: maskHeaders(hook.header_map),
  event_timeout: hook.event_timeout,
  webhook_id: hook.webhook_id,
});

export const nameHook = ({ name, webhook_id, id }: Pick<HookData, 'name' | 'webhook_id' | 'id'>): string =>
  name || webhook_id || id;

export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

export interface HookFaults {
  readonly name?: string;
  readonly url?: string;
}

export const findHookFaults = ({ name, target_path: url }: HookBody): HookFaults => ({
  ...(name.trim() ? {} : { name: own.nameMissing }),
  ...(/^https?:\/\/[^/]/i.test(url) && URL.canParse(url) ? {} : { url: own.urlMissing }),
});

export const formatHeaders = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

const headerLine = /^([^\s:]+)\s*:\s*(.*)$/;

/** Headers of lines, or the line that is none. */
export function parseHeaders(lines: readonly string[]): {
  readonly headers: Record<string, string>;
  readonly fault?: string;
} {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value = ''] = headerLine.exec(line) ?? [];
    if (name === undefined) return { headers, fault: own.headerFault(line) };
    headers[name] = value.trim();
  }
  return { headers };
}
