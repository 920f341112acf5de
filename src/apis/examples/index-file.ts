import { z } from 'zod';
import type { OutboundClient } from '#base/http-client/client.ts';
import { outboundProblem } from '#base/http-client/problems.ts';
import { isObject } from '#base/json-tree.ts';
import type { Settings } from '#base/settings.ts';
import { readBody } from '#operations/body.ts';
import { type FileRequest, fetchFile } from '../fetch-file.ts';
import { problem } from './problems.ts';

export interface ExampleServices {
  outbound: OutboundClient;
  settings: Settings;
}

/** Address of an index or folder: the operator's setting, or named by a request (`visitor`) and not trusted. */
export type Source = Pick<FileRequest, 'url' | 'orgId' | 'audience'>;

const maxIndexBytes = 1024 * 1024;
const maxFileBytes = 5 * 1024 * 1024;
const maxExamples = 1000;

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
export async function readIndex(services: ExampleServices, source: Source): Promise<ExampleEntry[]> {
  const { bytes, contentType } = await fetchSource(services, source, maxIndexBytes);
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

export async function fetchReadme(services: ExampleServices, folder: Source, location: string) {
  const { bytes } = await fetchSource(services, buildFileSource(folder, location, 'README.md'), maxFileBytes);
  return bytes.toString('utf8');
}

/** Definition of an example, by its format. */
export async function fetchDefinition(services: ExampleServices, folder: Source, location: string) {
  const source = buildFileSource(folder, location, 'apidef.json');
  const { bytes, contentType } = await fetchSource(services, source, maxFileBytes);
  const definition = await readBody('document', bytes, { contentType, maxBytes: maxFileBytes });
  if (!isObject(definition)) throw problem.index_invalid({ detail: { reason: 'apidef.json is not an object' } });
  return 'openapi' in definition ? { oas: definition } : { api_definition: definition };
}

const buildFileSource = (folder: Source, location: string, name: string): Source => ({
  ...folder,
  url: buildFileUrl(folder.url, location, name),
});

function buildFileUrl(folder: string, location: string, name: string): string {
  const base = URL.parse(folder.endsWith('/') ? folder : `${folder}/`);
  if (!base) throw outboundProblem.bad_url({ detail: { url: folder.slice(0, 200) } });
  return new URL(`${location}/${name}`, base).href;
}

function fetchSource({ outbound, settings }: ExampleServices, { url, ...source }: Source, maxBytes: number) {
  const file = URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  const timeoutMs = settings['apis.fetch_timeout_ms'];
  return fetchFile(outbound, { ...source, url, maxBytes, timeoutMs }, status =>
    problem.file_unavailable({ detail: { file, status } }),
  );
}
