import { z } from 'zod';
import type { OutboundClient } from '#base/http-client/client.ts';
import { outboundProblem } from '#base/http-client/problems.ts';
import { isObject } from '#base/json-tree.ts';
import { readBody } from '#operations/body.ts';
import { problem } from './problems.ts';

export interface ExampleServices {
  outbound: OutboundClient;
}

const maxIndexBytes = 1024 * 1024;
const maxFileBytes = 5 * 1024 * 1024;
const maxExamples = 1000;
const fetchTimeoutMs = 15_000;
const maxFetchRedirects = 3;

/** Relative path of an example below the folder of the index. */
const location = z
  .string()
  .max(500)
  .regex(/^[\w.-]+(?:\/[\w.-]+)*$/, 'must be a relative path')
  .refine(path => !path.split('/').some(segment => /^\.+$/.test(segment)), 'must be a relative path');

const entry = z.looseObject({
  location,
  name: z.string().max(500),
  shortDescription: z.string().max(5000).default(''),
  description: z.string().max(50_000).default(''),
  features: z.array(z.string().max(500)).max(100).default([]),
  minVersion: z.string().max(100).default(''),
});
const entries = z.array(entry).max(maxExamples);

export interface ExampleEntry {
  readonly location: string;
  readonly name: string;
  readonly shortDescription: string;
  readonly description: string;
  readonly features: string[];
  readonly min_version: string;
}

/** Reads an index: a list of examples, or an object with the list as `examples`, in JSON or YAML. */
export async function readIndex(services: ExampleServices, orgId: string, url: string): Promise<ExampleEntry[]> {
  const { bytes, contentType } = await fetchFile(services, orgId, url, maxIndexBytes);
  const index = await readBody('document', bytes, { contentType, maxBytes: maxIndexBytes });
  const parsed = entries.safeParse(isObject(index) ? index.examples : index);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const reason = [issue!.path.join('.'), issue!.message].filter(Boolean).join(': ');
    throw problem.index_invalid({ detail: { reason } });
  }
  return parsed.data.map(({ location, name, shortDescription, description, features, minVersion }) => ({
    location,
    name,
    shortDescription,
    description,
    features,
    min_version: minVersion,
  }));
}

export async function fetchReadme(services: ExampleServices, orgId: string, folder: string, location: string) {
  const { bytes } = await fetchFile(services, orgId, fileUrl(folder, location, 'README.md'), maxFileBytes);
  return bytes.toString('utf8');
}

/** Definition of an example, by its format. */
export async function fetchDefinition(services: ExampleServices, orgId: string, folder: string, location: string) {
  const file = fileUrl(folder, location, 'apidef.json');
  const { bytes, contentType } = await fetchFile(services, orgId, file, maxFileBytes);
  const definition = await readBody('document', bytes, { contentType, maxBytes: maxFileBytes });
  if (!isObject(definition)) throw problem.index_invalid({ detail: { reason: 'apidef.json is not an object' } });
  return 'openapi' in definition ? { oas: definition } : { api_definition: definition };
}

function fileUrl(folder: string, location: string, name: string): string {
  const base = URL.parse(folder.endsWith('/') ? folder : `${folder}/`);
  if (!base) throw outboundProblem.bad_url({ detail: { url: folder.slice(0, 200) } });
  return new URL(`${location}/${name}`, base).href;
}

async function fetchFile({ outbound }: ExampleServices, orgId: string, url: string, maxBytes: number) {
  const { status, headers, body } = await outbound.fetch({
    url,
    orgId,
    audience: 'operator',
    timeoutMs: fetchTimeoutMs,
    maxRedirects: maxFetchRedirects,
    maxBytes,
  });
  const file = URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  if (status !== 200) throw problem.file_unavailable({ detail: { file, status } });
  const contentType = headers['content-type'];
  return { bytes: body, contentType: typeof contentType === 'string' ? contentType : undefined };
}
