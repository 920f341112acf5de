import { z } from 'zod';
import { tokenPattern } from '#base/http-syntax.ts';
import { framingHeaders } from '../../http/headers.ts';

/** Accepts snake_case members beside camelCase. */
const renameMembers =
  (names: Readonly<Record<string, string>>) =>
  (given: unknown): unknown =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? Object.fromEntries(Object.entries(given).map(([name, value]) => [names[name] ?? name, value]))
      : given;

const Match = z.preprocess(
  renameMembers({ message_pattern: 'messagePattern', body_field: 'bodyField', body_value: 'bodyValue' }),
  z.object({
    flag: z.string().nullish(),
    messagePattern: z.string().nullish(),
    bodyField: z.string().nullish(),
    bodyValue: z.string().nullish(),
  }),
);
/** Framing headers are set by the response writer. */
const headerName = z
  .string()
  .regex(tokenPattern, 'is not a header name')
  .refine(name => !framingHeaders.has(name.toLowerCase()), 'the gateway sends this header itself');
const Response = z.preprocess(
  renameMembers({ status_code: 'statusCode' }),
  z.object({
    statusCode: z.union([z.literal(0), z.int().min(200).max(599)]).nullish(),
    body: z.string().nullish(),
    message: z.string().nullish(),
    template: z.string().nullish(),
    headers: z.record(headerName, z.string().regex(/^\P{Cc}*$/u)).nullish(),
  }),
);
export const Rule = z.object({ match: Match.nullish(), response: Response });
export type ResponseRule = z.output<typeof Response>;
