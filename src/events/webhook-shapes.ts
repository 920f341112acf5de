import { z } from 'zod';
import { maxUrlCharacters } from '#base/http-client/target.ts';
import { fieldValuePattern, tokenPattern } from '#base/http-syntax.ts';

/** What any webhook of ours may be told to do, whoever keeps it. */

export const webhookMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** The parser alone would take `http:host` or a line break and repair it; what is stored must be what was meant. */
function isAbsolute(text: string): boolean {
  if (!/^https?:\/\/[^/?#]/i.test(text) || /[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

export const webhookUrl = z
  .string()
  .max(maxUrlCharacters)
  .refine(isAbsolute, 'must be an absolute http or https URL without user name or password');

/** Characters of an HTTP field name; anything else would be refused when the hook is called. */
export const webhookHeaderName = z.string().max(256).regex(tokenPattern, 'is not a header name');
export const webhookHeaderValue = z
  .string()
  .max(8192)
  .regex(fieldValuePattern, 'holds characters a header cannot carry');
export const maxWebhookHeaders = 100;
