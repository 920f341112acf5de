import { createHash } from 'node:crypto';
import { type CompositionResult, composeServices, type ServiceDefinition } from '@theguild/federation-composition';
import { type ConstDirectiveNode, GraphQLError, Kind, parse } from 'graphql';
import { Lru } from '#base/lru.ts';
import { scanGraphqlText } from '../scan.ts';
import { type FieldGuards, readFieldGuards } from './field-guards.ts';
import { readSupergraphTypes, type SupergraphTypes } from './supergraph-types.ts';
import { findUnsupportedDirective } from './unsupported-directives.ts';

/** A subgraph by its name, with its schema. */
export interface SubgraphSchema {
  readonly name: string;
  readonly sdl: string;
}

export interface ComposedSupergraph {
  /** With the directives of the join specification, for the query planner. */
  readonly supergraphSdl: string;
  /** Schema of clients, without inaccessible parts. */
  readonly apiSdl: string;
  readonly guards: FieldGuards;
  /** Read on first use: only traffic needs them. */
  readTypes(): SupergraphTypes;
}

export interface CompositionError {
  /** Position of the subgraph at fault; undefined for an error of several. */
  readonly at: number | undefined;
  readonly message: string;
}

/** Of all subgraphs together: composition holds the thread. */
const maxSubgraphTokens = 100_000;
const maxSubgraphTypes = 2000;
const maxSubgraphNesting = 100;
const maxErrors = 20;
/** Versions of an API, checks and reloads share a composition. */
const maxCompositions = 128;
const compositions = new Lru<string, ComposedSupergraph>(maxCompositions);

/** Composes subgraphs of Federation 1 and 2 to a supergraph; errors by subgraph. */
export function composeSupergraph(
  subgraphs: readonly SubgraphSchema[],
): ComposedSupergraph | { readonly errors: readonly CompositionError[] } {
  const text = JSON.stringify(subgraphs.map(({ name, sdl }) => [name, sdl]));
  const key = createHash('sha256').update(text).digest('base64');
  const known = compositions.get(key);
  if (known) return known;
  const remaining = { tokens: maxSubgraphTokens, types: maxSubgraphTypes };
  const parsed = subgraphs.map(it => parseSubgraph(it, remaining));
  const syntaxErrors = parsed.flatMap((it, at) => ('fault' in it ? [{ at, message: it.fault }] : []));
  if (syntaxErrors.length > 0) return { errors: syntaxErrors };
  const outside = parsed.flatMap((it, at) => ('fault' in it ? [] : findExternalOfInterfaceObject(it, at)));
  if (outside.length > 0) return { errors: outside };
  const services = parsed.flatMap(it => ('typeDefs' in it ? [it] : []));
  const result = runComposition(services);
  if ('fault' in result) return { errors: [{ at: undefined, message: result.fault }] };
  const { supergraphSdl, publicSdl, errors = [] } = result;
  if (supergraphSdl === undefined || publicSdl === undefined) return { errors: errors.slice(0, maxErrors).map(locate) };
  const unsupported = findUnsupportedDirective(supergraphSdl);
  if (unsupported !== undefined) return { errors: [{ at: undefined, message: unsupported }] };
  let types: SupergraphTypes | undefined;
  const composed: ComposedSupergraph = {
    supergraphSdl,
    apiSdl: publicSdl,
    guards: readFieldGuards(supergraphSdl),
    readTypes() {
      types ??= readSupergraphTypes(supergraphSdl);
      return types;
    },
  };
  compositions.set(key, composed);
  return composed;

  function locate({ message, extensions }: GraphQLError): CompositionError {
    const at = subgraphs.findIndex(({ name }) => name === extensions.subgraphName);
    return { at: at < 0 ? undefined : at, message: message.replaceAll(/\s+/g, ' ') };
  }
}

/** `remaining`: what the subgraphs before it leave of the bounds of all. */
function parseSubgraph(
  { name, sdl }: SubgraphSchema,
  remaining: { tokens: number; types: number },
): ServiceDefinition | { readonly fault: string } {
  try {
    remaining.tokens -= scanGraphqlText(sdl, { maxTokens: maxSubgraphTokens, maxNesting: maxSubgraphNesting });
    if (remaining.tokens < 0) return { fault: `all subgraphs together have more than ${maxSubgraphTokens} tokens` };
    // Addresses are not part of the composition: only the definition has them.
    const typeDefs = parse(sdl, { noLocation: true });
    remaining.types -= typeDefs.definitions.length;
    if (remaining.types < 0) return { fault: `all subgraphs together have more than ${maxSubgraphTypes} types` };
    return { name, url: '', typeDefs };
  } catch (error) {
    if (error instanceof GraphQLError) return { fault: error.message };
    throw error;
  }
}

/** The package composes these as if the subgraph had the values of such a field, and responses would lack them. */
function findExternalOfInterfaceObject({ typeDefs }: ServiceDefinition, at: number): CompositionError[] {
  return typeDefs.definitions.flatMap(type => {
    if (type.kind !== Kind.OBJECT_TYPE_DEFINITION && type.kind !== Kind.OBJECT_TYPE_EXTENSION) return [];
    if (!hasDirective(type, 'interfaceObject')) return [];
    const external = type.fields?.find(field => hasDirective(field, 'external'));
    const place = `${type.name.value}.${external?.name.value}`;
    return external ? [{ at, message: `${place}: @external fields of an @interfaceObject are not supported` }] : [];
  });
}

const hasDirective = (
  { directives = [] }: { readonly directives?: readonly ConstDirectiveNode[] | undefined },
  name: string,
): boolean => directives.some(it => it.name.value === name || it.name.value.endsWith(`__${name}`));

/** The package throws for some SDL that it does not expect; the text of its error is that of the author's mistake. */
function runComposition(services: Parameters<typeof composeServices>[0]): CompositionResult | { fault: string } {
  try {
    return composeServices(services);
  } catch (error) {
    if (error instanceof Error) return { fault: `cannot be composed: ${error.message}` };
    throw error;
  }
}
