import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { fetchProblems, type PlainDocumentServices } from '../oas/plain-document.ts';
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
    'Converts a description of an API (OpenAPI 3, Swagger 2.0, API Blueprint, cURL, HAR, Postman, AsyncAPI) to a document that can be imported, and stores nothing. The description is one of text, url and archive. Values of recorded requests are not copied.',
  permission: 'apis:write',
  body: z.object({
    format: z.enum(formats).default('auto').describe('Format of the text; auto recognises it. wsdl is not supported'),
    text: z.string().min(1).optional().describe('The description, as in its file'),
    url: z.string().min(1).max(2000).optional().describe('Address of its file, or of a ZIP archive'),
    archive: z
      .string()
      .min(1)
      .optional()
      .describe('ZIP archive in base64, with openapi.json or openapi.yaml and the files that it references'),
  }),
  example: { format: 'curl', text: 'curl https://orders.example/orders/17' },
  returns: z.object({
    format: z.string().describe('Format of the text'),
    kind: z.enum(['openapi', 'streams']).describe('streams is a document for POST /api/apis/streams'),
    document: z.looseObject({}),
    warnings: z.array(z.string()).readonly().describe('Parts of the text that the document does not have'),
  }),
  problems: [...Object.values(problem), ...fetchProblems],
  async handle({ actor, body }, services: PlainDocumentServices) {
    // Loaded on first use: few processes ever convert.
    const { convertSource } = await import('./convert-source.ts');
    return convertSource(body, actor.orgId, services);
  },
});

export const apiConvertOperations = [convertDocument];
