import { isObject } from '#base/json-tree.ts';
import { percentDecodeLoosely } from '#base/percent-decode.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError, type Step, type StepReads } from '../pipeline/step.ts';
import { removeStaleHeaders } from '../transform/body-transform.ts';
import { compileVariables, type VariableServices } from '../variables/variables.ts';

type Services = VariableServices & Pick<PipelineServices, 'settings'>;

const reads = { endpoints: ['persistGraphql'] } as const satisfies StepReads;

/** Persisted operations: an endpoint sends a GraphQL operation of the definition to the upstream. */
export const persistGraphqlStep: Step<Services, typeof reads> = {
  name: 'persist-graphql',
  reads,
  build(context) {
    const { version, services } = context;
    const entries = version.endpoints.persistGraphql
      .filter(({ enabled }) => enabled)
      .map(({ path, method, operation, variables }) => {
        if (operation.trim() === '') throw new ApiCompileError(`the persisted operation of ${path} is empty`);
        const types = readVariableTypes(operation);
        const findSegments = createSegmentFinder(path);
        const fill = Object.entries(variables).map(
          ([name, value]) => [name, compileValue(value, types.get(name), services)] as const,
        );
        const write = (call: Exchange): Buffer => {
          const segments = findSegments(call.innerPath);
          const filled = Object.fromEntries(fill.map(([name, value]) => [name, value(call, segments)]));
          return Buffer.from(JSON.stringify({ query: operation, variables: filled }));
        };
        return { path, method, write };
      });
    const endpoints = createEndpointMatcher(entries, { ...context, settings: services.settings });
    if (!endpoints) return undefined;
    return {
      request(call) {
        const entry = endpoints.find(call);
        if (entry) sendOperation(call, entry.write(call));
        return undefined;
      },
    };
  },
};

/** Replaces the request by a POST of the operation to the root of the upstream. */
function sendOperation(call: Exchange, body: Buffer): void {
  call.body.replace(body);
  removeStaleHeaders(call.headers);
  call.headers.set('Content-Type', 'application/json');
  call.upstreamMethod = 'POST';
  call.rewrittenTarget = { address: undefined, path: '/', query: '' };
}

type Segments = ReadonlyMap<string, string>;
type FillValue = (call: Exchange, segments: Segments) => unknown;

/** Texts may contain `$path.NAME` and variables of the request; other values are constant. */
function compileValue(value: unknown, type: string | undefined, services: VariableServices): FillValue {
  if (typeof value === 'string') return compileText(value, type, services);
  if (Array.isArray(value)) {
    const items = value.map(item => compileValue(item, undefined, services));
    return (call, segments) => items.map(item => item(call, segments));
  }
  if (!isObject(value)) return () => value;
  const members = Object.entries(value).map(([name, it]) => [name, compileValue(it, undefined, services)] as const);
  return (call, segments) => Object.fromEntries(members.map(([name, it]) => [name, it(call, segments)]));
}

function compileText(text: string, type: string | undefined, services: VariableServices): FillValue {
  const pieces = text.split(/\$path\.(\w+)/);
  const isConstant = pieces.length === 1 && !text.includes('$');
  if (isConstant) return () => text;
  const parts = pieces.map((piece, at) => (at % 2 === 0 ? compileVariables(piece, services) : piece));
  return (call, segments) => {
    const filled = parts.map(part => (typeof part === 'string' ? (segments.get(part) ?? '') : part(call))).join('');
    return toDeclaredType(filled, type);
  };
}

/** Texts of the request become numbers and booleans where the operation declares them. */
function toDeclaredType(text: string, type: string | undefined): unknown {
  if (type === 'Boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if ((type === 'Int' || type === 'Float') && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  return text;
}

const readVariableTypes = (operation: string): Map<string, string> =>
  new Map([...operation.matchAll(/\$(\w+)\s*:\s*(\w+)/g)].map(([, name, type]) => [name!, type!]));

/** Values of `{NAME}` segments of the pattern, decoded. In loose matching the pattern may begin later in the path. */
function createSegmentFinder(pattern: string): (path: string) => Segments {
  const expected = pattern.split('/').filter(it => it !== '');
  const names = expected.map(it => /^\{(\w+)/.exec(it)?.[1]);
  const isAt = (segments: readonly string[], start: number) =>
    expected.every((it, at) => names[at] !== undefined || segments[start + at] === it);
  return path => {
    const segments = path.split('/').filter(it => it !== '');
    let start = 0;
    while (start + expected.length < segments.length && !isAt(segments, start)) start++;
    return new Map(
      names.flatMap((name, at) =>
        name === undefined ? [] : [[name, percentDecodeLoosely(segments[start + at] ?? '')]],
      ),
    );
  };
}
