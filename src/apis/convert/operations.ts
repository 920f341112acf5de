import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { convertFormats, unsupportedFormats } from './formats.ts';
import { problem } from './problems.ts';

const formats = [...convertFormats, ...unsupportedFormats] as const;

export const convertDocument = operation({
  surface: 'dashboard',
  noun: 'apis',
  name: 'convertDocument',
  method: 'POST',
  path: '/api/apis/convert',
  about:
    'Converts a description of an API (OpenAPI 3, Swagger 2.0, API Blueprint, cURL, HAR, Postman, AsyncAPI) to a document that can be imported, and stores nothing. Values of recorded requests are not copied.',
  permission: 'apis:write',
  body: z.object({
    format: z.enum(formats).default('auto').describe('Format of the text; auto recognises it. wsdl is not supported'),
    text: z.string().min(1).describe('The description, as in its file'),
  }),
  example: { format: 'curl', text: 'curl https://orders.example/orders/17' },
  returns: z.object({
    format: z.string().describe('Format of the text'),
    kind: z.enum(['openapi', 'streams']).describe('streams is a document for POST /api/apis/streams'),
    document: z.looseObject({}),
    warnings: z.array(z.string()).readonly().describe('Parts of the text that the document does not have'),
  }),
  problems: [problem.format_unknown, problem.format_unsupported, problem.text_invalid],
  async handle({ body: { format, text } }, { settings }: { settings: Settings }) {
    // Loaded on first use: few processes ever convert.
    const { convertText } = await import('./convert-text.ts');
    return convertText({ format, text, maxBytes: settings['management.max_body_bytes'] });
  },
});

export const apiConvertOperations = [convertDocument];
