import { tokenPattern } from '#base/http-syntax.ts';
import type { ComposedSupergraph } from '#languages/graphql/federation/compose-supergraph.ts';
import type { CompiledSchema } from '#languages/graphql/schema.ts';
import { loadFederation, loadGraphqlLanguage } from '#languages/lazy-languages.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import type { Model } from '../model.ts';

type Block = Pick<Model['graphql'], 'subgraphs' | 'mergedSdl' | 'schema' | 'supergraphHeaders'>;

/** A supergraph as its definition has it, with its composition. */
export interface Supergraph {
  readonly composed: ComposedSupergraph;
  /** Schema for validation of requests: that of the definition, or all that was composed. */
  readonly compiled: CompiledSchema;
}

const listPlace = 'graphql.supergraph.subgraphs';
const maxSubgraphs = 200;
/** Errors of SDL quote it. */
const maxErrorLength = 1000;

/** Composes the subgraphs of a definition, or lists what is wrong with them; drafts may have none yet. */
export function composeDefinition(block: Block): Supergraph | { readonly errors: readonly ValidationError[] } {
  const { subgraphs } = block;
  const errors = [
    ...checkSubgraphs(block),
    ...checkHeaders('graphql.supergraph.global_headers', block.supergraphHeaders),
  ];
  if (errors.length > 0) return { errors };
  const composed = loadFederation().composeSupergraph(subgraphs);
  if (!('errors' in composed)) return compileSupergraph(block, composed);
  return {
    errors: composed.errors.map(({ at, message }) => ({
      path: at === undefined ? listPlace : `${listPlace}[${at}].sdl`,
      message: message.slice(0, maxErrorLength),
    })),
  };
}

function checkSubgraphs({ subgraphs }: Block): ValidationError[] {
  if (subgraphs.length > maxSubgraphs) return [{ path: listPlace, message: `must be at most ${maxSubgraphs}` }];
  const names = new Set<string>();
  return subgraphs.flatMap(({ name, url, apiId, sdl, headers }, at) => {
    const errors: ValidationError[] = [];
    const report = (member: string, message: string) => errors.push({ path: `${listPlace}[${at}].${member}`, message });
    if (!/^[A-Za-z][\w-]*$/.test(name)) report('name', 'must be letters, digits, _ and -, and begin with a letter');
    else if (names.has(toGraphName(name))) report('name', 'is the name of another subgraph');
    names.add(toGraphName(name));
    const fault = findUrlFault(url, apiId);
    if (fault !== undefined) report('url', fault);
    if (sdl.trim() === '') report('sdl', 'is required: { _service { sdl } } of the subgraph returns it');
    return [...errors, ...checkHeaders(`${listPlace}[${at}].headers`, headers)];
  });
}

/** Names of subgraphs are values of an enum in the supergraph. */
const toGraphName = (name: string): string => name.toUpperCase().replaceAll('-', '_');

function findUrlFault(url: string, apiId: string): string | undefined {
  const [, scheme = '', authority = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i.exec(url) ?? [];
  if (!['http', 'https', 'gw'].includes(scheme.toLowerCase()) || authority === '')
    return 'must be an address with http, https or gw';
  if (/\{\{|\$/.test(url)) return 'must be fixed: no part of a request may choose it';
  if (authority.includes('@')) return 'must not have a user name or password: a header has it';
  const isOther = apiId !== '' && (scheme.toLowerCase() !== 'gw' || authority !== apiId);
  return isOther ? `must be gw://${apiId}: api_id names that API` : undefined;
}

const checkHeaders = (path: string, headers: Readonly<Record<string, string>>): ValidationError[] =>
  Object.keys(headers)
    .filter(name => !tokenPattern.test(name))
    .map(name => ({ path, message: `${JSON.stringify(name)} is not a header name` }));

/** The schema that clients see may leave out parts of the supergraph, but has nothing that no subgraph answers. */
function compileSupergraph(block: Block, composed: ComposedSupergraph): ReturnType<typeof composeDefinition> {
  const whole = compileAt(listPlace, composed.apiSdl);
  if ('errors' in whole) return whole;
  const [path, sdl] =
    block.mergedSdl.trim() === ''
      ? (['graphql.schema', block.schema] as const)
      : (['graphql.supergraph.merged_sdl', block.mergedSdl] as const);
  if (sdl.trim() === '') return { composed, compiled: whole };
  const compiled = compileAt(path, sdl);
  if ('errors' in compiled) return compiled;
  const foreign = loadFederation().findForeignPart(compiled, whole);
  return foreign === undefined ? { composed, compiled } : { errors: [{ path, message: foreign }] };
}

function compileAt(path: string, sdl: string): CompiledSchema | { readonly errors: readonly ValidationError[] } {
  const { compileGraphqlSchema, InvalidGraphqlSchema } = loadGraphqlLanguage();
  try {
    return compileGraphqlSchema(sdl);
  } catch (error) {
    if (error instanceof InvalidGraphqlSchema)
      return { errors: [{ path, message: `is invalid: ${error.message.slice(0, maxErrorLength)}` }] };
    throw error;
  }
}
