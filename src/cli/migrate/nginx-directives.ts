import type { Document } from '../documents.ts';
import type { NginxDirective } from './nginx-config.ts';

/** Directives of a location, and those it inherits, as members of a definition. */
export interface AppliedDirectives {
  readonly members: Document;
  readonly version: Document;
  readonly preserveHost: boolean;
  readonly leftOut: readonly { readonly line: number; readonly name: string; readonly reason: string }[];
  /** Directive without which the API would be less protected. */
  readonly blocked: { readonly line: number; readonly reason: string } | undefined;
}

/** Headers that the gateway sets itself. */
const forwardingHeaders = /^(x-forwarded-\w+|x-real-ip|forwarded|connection|upgrade)$/i;
/** Directives that end with the location: a location with one of its own does not inherit the others. */
const isOverriding = ['proxy_set_header', 'add_header', 'proxy_hide_header', 'allow', 'deny'];
const isGuard = ({ name, words }: NginxDirective) =>
  (/^(auth_basic|auth_request|auth_jwt)$/.test(name) && words[0] !== 'off') ||
  (name === 'ssl_verify_client' && words[0] === 'on') ||
  /^(valid_referers|internal|satisfy|secure_link|limit_except)$/.test(name);

const silentNames = new Set(
  'proxy_pass access_log error_log proxy_http_version auth_basic_user_file server_tokens charset listen server_name'.split(
    ' ',
  ),
);
const isSilent = (name: string) => silentNames.has(name) || /^(gzip|keepalive_)/.test(name);

export function applyNginxDirectives(
  inherited: readonly NginxDirective[],
  own: readonly NginxDirective[],
): AppliedDirectives {
  const effective = [
    ...inherited.filter(
      ({ name }) => isInherited(name) && !own.some(it => it.name === name || sharesList(it.name, name)),
    ),
    ...own,
  ];
  const guard = effective.find(isGuard);
  const access = readAccess(effective.filter(({ name }) => name === 'allow' || name === 'deny'));
  const headers = new Map<string, string>();
  const responseHeaders = new Map<string, string>();
  const hidden: string[] = [];
  const leftOut: { line: number; name: string; reason: string }[] = [];
  const version: Record<string, unknown> = {};
  let preserveHost = false;
  for (const directive of effective) {
    const { name, words, line } = directive;
    const [first = '', second = ''] = words;
    if (isSilent(name) || isGuard(directive) || name === 'allow' || name === 'deny') continue;
    if (name === 'proxy_set_header' && first.toLowerCase() === 'host' && /^\$(host|http_host)$/.test(second))
      preserveHost = true;
    else if (name === 'proxy_set_header' && forwardingHeaders.test(first)) continue;
    else if (name === 'proxy_set_header' && !second.includes('$')) headers.set(first, second);
    else if (name === 'add_header' && !second.includes('$')) responseHeaders.set(first, second);
    else if (name === 'proxy_hide_header') hidden.push(first);
    else if (name === 'client_max_body_size') version.global_size_limit = readSize(first);
    else leftOut.push({ line, name: [name, first].filter(Boolean).join(' '), reason: describe(name) });
  }
  if (headers.size > 0) version.global_headers = Object.fromEntries(headers);
  if (responseHeaders.size > 0) version.global_response_headers = Object.fromEntries(responseHeaders);
  if (hidden.length > 0) version.global_response_headers_remove = hidden;
  const reason = guard ? `${guard.name} cannot be expressed, and the API would be less protected` : access.reason;
  return {
    members: access.members,
    version,
    preserveHost,
    leftOut,
    blocked: reason === undefined ? undefined : { line: guard?.line ?? access.line, reason },
  };
}

const inheritable = new Set(
  (
    'proxy_set_header add_header proxy_hide_header client_max_body_size allow deny auth_basic auth_request auth_jwt ' +
    'satisfy ssl_verify_client'
  ).split(' '),
);
const isInherited = (name: string) => inheritable.has(name);
const sharesList = (a: string, b: string) =>
  isOverriding.includes(a) && /^(allow|deny)$/.test(a) && /^(allow|deny)$/.test(b);

const describe = (name: string) =>
  /^(proxy_set_header|add_header)$/.test(name) ? 'values with variables are not moved' : 'it is not moved';

const sizeUnits: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1_048_576, g: 1_073_741_824 };

/** Zero means no limit, in both. */
function readSize(text: string): number {
  const [, digits = '0', unit = ''] = /^(\d{1,12})([kmg]?)$/i.exec(text) ?? [];
  return Number(digits) * sizeUnits[unit.toLowerCase()]!;
}

interface Access {
  readonly members: Document;
  readonly line: number;
  readonly reason: string | undefined;
}

/** Rules are checked in order: `allow … deny all` is an allow list, `deny …` alone a block list. */
function readAccess(rules: readonly NginxDirective[]): Access {
  const line = rules[0]?.line ?? 0;
  const none: Access = { members: {}, line, reason: undefined };
  const texts = rules.map(({ name, words }) => `${name} ${words[0] ?? ''}`);
  if (rules.length === 0 || texts[0] === 'allow all') return none;
  const last = texts.at(-1);
  const body = /^(allow|deny) all$/.test(last ?? '') ? rules.slice(0, -1) : rules;
  const addresses = body.map(({ words }) => words[0] ?? '');
  if (last === 'deny all' && body.length > 0 && body.every(({ name }) => name === 'allow'))
    return { ...none, members: { enable_ip_whitelisting: true, allowed_ips: addresses } };
  if (last !== 'deny all' && body.every(({ name }) => name === 'deny'))
    return { ...none, members: { enable_ip_blacklisting: true, blacklisted_ips: addresses } };
  return { ...none, reason: 'its allow and deny rules cannot be expressed, and the API would be less protected' };
}
