import { z } from 'zod';
import { maxUrlCharacters } from '#base/http-client/target.ts';
import { fieldValuePattern, tokenPattern } from '#base/http-syntax.ts';

/** Request shapes of all webhooks, of events and of the portal. */

export const webhookMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Stricter than the URL parser, which would repair `http:host` or a line break: the stored URL must be the intended
 * one.
 */
function isAbsolute(text: string): boolean {
  if (!/^https?:\/\/[^/?#]/i.test(text) || /[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

export const webhookUrl = z
  .string()
  .max(maxUrlCharacters)
  .refine(isAbsolute, 'must be an absolute http or https URL without user name or password');

/** Field name (RFC 9110 section 5.1); the client would reject anything else at the time of the call. */
export const webhookHeaderName = z.string().max(256).regex(tokenPattern, 'is not a header name');
export const webhookHeaderValue = z
  .string()
  .max(8192)
  .regex(fieldValuePattern, 'contains characters that are not allowed in a header');
export const maxWebhookHeaders = 100;
