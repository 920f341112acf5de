import type { FieldErrors } from '../form.ts';
import type { SiteFile, SiteReply, SiteVisitor } from '../page.ts';
import { toJsonFile } from './json-file.ts';

/** Tests whether a script sends a form, or reads that of a sign-in, in place of a browser that navigates. */
export const isScriptCall = (method: string, path: string, accept: string | undefined): boolean =>
  (method === 'POST' || path.startsWith('/auth/password/')) &&
  /\bapplication\/json\b/.test(accept ?? '') &&
  !/\btext\/html\b/.test(accept ?? '');

/** Errors of a form for scripts, each with the name of its field; undefined without any. */
export function toFormErrors(errors: FieldErrors, failure = ''): { readonly errors: readonly string[] } | undefined {
  const all = [...(failure ? [failure] : []), ...[...errors].map(([name, text]) => `${name}: ${text}`)];
  return all.length === 0 ? undefined : { errors: all };
}

/** JSON representation of the reply of a page: where it leads, its own data, or the token for the next form. */
export function toScriptReply(sent: SiteReply, { csrfToken }: SiteVisitor): SiteFile {
  if ('file' in sent) return sent;
  if ('redirect' in sent) return toJsonFile(sent.json ?? { Location: sent.redirect });
  const { status = 200, title, json } = sent;
  if (json !== undefined) return toJsonFile(json, status);
  return toJsonFile(status < 400 ? { Title: title, CSRFToken: csrfToken } : { errors: [title] }, status);
}

/** Fields of a JSON object: strings, numbers and booleans; undefined for anything else. */
export function readJsonFields(text: string): URLSearchParams | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = Object.entries(value);
  if (!fields.every(([, it]) => ['string', 'number', 'boolean'].includes(typeof it))) return undefined;
  return new URLSearchParams(fields.map(([name, it]) => [name, String(it)]));
}
