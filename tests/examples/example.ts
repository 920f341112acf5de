import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { JsonObject } from '#base/json-tree.ts';
import type { SettingName } from '#base/settings.ts';
import type { DefinitionFormat } from '#definition/facet.ts';
import type { Upstream } from '../support/upstream.ts';
import type { Place } from './place.ts';

/** How an example is prepared and called, and what must come of it: for both formats where there are both. */
export interface Example {
  /** Title; an example in the OpenAPI format has it as its description. */
  readonly shows?: string;
  /** Examples it does not work without. */
  readonly needs?: readonly string[];
  /** Where it is published; by default at the operations of its format. */
  readonly surface?: string;
  /** Settings of a gateway of its own. */
  readonly settings?: Partial<Record<SettingName, string>>;
  /** What is written into the file in place of its placeholders. */
  readonly before?: (at: Place) => Promise<Values>;
  /** What its calls name by `$NAME`. */
  readonly after?: (at: Place, apiId: string) => Promise<Values>;
  /** What the upstream answers, unless it repeats what it was sent. */
  readonly answer?: Upstream['answer'];
  readonly calls: readonly Call[];
  /** What else must come of it. */
  readonly afterwards?: (at: Place, apiId: string) => Promise<void>;
  /** How it is called, where it is not called over HTTP. */
  readonly command?: string;
}

export type Values = Readonly<Record<string, string>>;

export interface Call {
  /** Method and address; the port of the gateway unless it names another. */
  readonly ask: string;
  readonly headers?: Values;
  readonly body?: string;
  /** Shows the certificate that `before` made. */
  readonly withCertificate?: boolean;
  readonly status: number;
  /** Text of the response. */
  readonly says?: RegExp;
  /** Headers of the answer; null where one must not be there. */
  readonly tells?: Readonly<Record<string, string | RegExp | null>>;
  /** Method and address the upstream gets; null where it must get nothing. */
  readonly reaches?: string | null;
  /** Headers the upstream gets; null where one must not be there. */
  readonly sees?: Readonly<Record<string, string | RegExp | null>>;
  /** The body the upstream gets. */
  readonly gets?: RegExp;
  /** The second of the upstreams, which answers at port 9001, is meant. */
  readonly elsewhere?: boolean;
  /** Asked again until this is what comes of it: it takes effect after a while. */
  readonly eventually?: boolean;
}

export const formats: readonly DefinitionFormat[] = ['classic', 'oas'];

export const folder = join(import.meta.dirname, '../../examples');
export const endings: Readonly<Record<DefinitionFormat, string>> = { classic: '.json', oas: '.oas.yaml' };

export const definitionFiles = readdirSync(folder)
  .filter(file => file !== 'README.md')
  .sort();
export const fileOf = (name: string, format: DefinitionFormat): string | undefined =>
  definitionFiles.find(file => file === name + endings[format]);
export const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');
export const readExample = (file: string): JsonObject => parse(textOf(file)) as JsonObject;
