import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { loadGoTemplate } from '#languages/lazy-languages.ts';
import { isTemplateText } from '../body-template.ts';
import {
  maxWebhookHeaders,
  webhookHeaderName,
  webhookHeaderValue,
  webhookMethod,
  webhookUrl,
} from '../webhook-shapes.ts';

const headerMap = z
  .record(webhookHeaderName, webhookHeaderValue)
  .refine(map => Object.keys(map).length <= maxWebhookHeaders, `may hold at most ${maxWebhookHeaders} headers`);

/** Cooldown: equal events are sent once in this time; a day at most. */
const maxTimeoutSeconds = 86_400;

/** Inline template, or the name of its file. */
const maxTemplateLength = 20_000;

/** Compiles an inline template; a file may be added later. */
function checkTemplate(template: string, context: z.RefinementCtx): void {
  if (!isTemplateText(template)) return;
  try {
    loadGoTemplate().compileTemplate(template);
  } catch (error) {
    context.addIssue({ code: 'custom', message: `is not a template: ${(error as Error).message}` });
  }
}

/** Body template of a webhook; empty for the default body. */
export const hookTemplate = z.string().max(maxTemplateLength).superRefine(checkTemplate).default('');

export const Hook = z.object({
  api_model: z.object({}),
  id: z.string(),
  org_id: z.string(),
  name: z.string(),
  method: z.string(),
  target_path: z.string(),
  template_path: z.string(),
  header_map: z.record(z.string(), z.string()),
  event_timeout: z.int(),
  webhook_id: z.string(),
});
export type Hook = z.infer<typeof Hook>;

/** Body of a write. Omitted members are empty, also on update. */
const writable = z.object({
  method: webhookMethod,
  target_path: webhookUrl,
  event_timeout: z.int().min(0).max(maxTimeoutSeconds).default(0),
  header_map: headerMap.nullish().transform(map => map ?? {}),
  name: z.string().max(200).default(''),
  template_path: hookTemplate,
  webhook_id: z
    .string()
    .regex(/^[\w.~-]{0,64}$/, 'must be up to 64 letters, digits and ._-~')
    .default(''),
});
export const HookWrite = readOnlyMembers(writable, Object.keys(Hook.shape));
export type HookWrite = z.output<typeof HookWrite>;
