import { tokenPattern } from '#base/http-syntax.ts';
import { JqError } from '#languages/jq/error.ts';
import type { Jq, JqBounds } from '#languages/jq/jq.ts';
import { loadJq } from '#languages/lazy-languages.ts';
import { framingHeaders, type HeaderList } from '../http/headers.ts';
import { createEndpointMatcher, type EndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { escapeHeaderValue } from '../variables/variables.ts';
import { InvalidBody, parseExactJsonBody } from './body-data.ts';
import type { BodyTransform, TransformContext } from './body-transform.ts';

/** Configuration of a jq transform, request or response. */
interface FilterConfig {
  readonly path: string;
  readonly method: string;
  readonly filter: string;
}

type JsonObject = Record<string, unknown>;

/** Response filters see the response headers too. */
export type Direction = 'request' | 'response';

/** Depth of calls and of values. */
const maxDepth = 200;

/** Undefined without transforms. */
export function createJqTransforms(
  configs: readonly FilterConfig[],
  direction: Direction,
  { model, version, services }: TransformContext,
): EndpointMatcher<BodyTransform> | undefined {
  const { settings } = services;
  const bounds = {
    maxSteps: settings['templates.max_steps'],
    maxOutputs: 1,
    maxDepth,
    maxBytes: settings['gateway.max_buffered_body_bytes'],
  };
  const maxValues = settings['gateway.max_body_values'];
  const isLenient = direction === 'response' && settings['transforms.on_failure'] === 'pass';
  const showsContext = model.contextVariables.enabled;
  const entries = configs.map(({ path, method, filter: source }) => {
    const filter = compileFilter(path, source);
    const { stringifyJqResult } = loadJq();
    return {
      path,
      method,
      write(call: Exchange, bytes: Buffer, headers: HeaderList): Buffer | undefined {
        const input: JsonObject = { body: readBody(bytes, maxValues, isLenient) };
        if (showsContext && call.context) input._gw_context = call.context;
        if (direction === 'response') input._gw_response_headers = headersByName(headers);
        const result = runFilter(filter, input, bounds);
        const text = stringifyJqResult(result.body, bounds);
        const changes = parseHeaderChanges(result.rewrite_headers);
        if (showsContext) mergeContext(call, result.gw_context);
        for (const [name, value] of changes) headers.set(name, value);
        // An empty body stays empty unless the filter sets one.
        return bytes.length === 0 && text === 'null' ? undefined : Buffer.from(text);
      },
    };
  });
  return createEndpointMatcher(entries, { model, version, settings });
}

function compileFilter(path: string, source: string): Jq {
  if (source.trim() === '') throw new ApiCompileError(`the jq transform of ${path} has no filter`);
  try {
    return loadJq().compileJq(source);
  } catch (error) {
    if (error instanceof JqError)
      throw new ApiCompileError(`the jq filter of ${path} is invalid: ${error.message}`, { cause: error });
    throw error;
  }
}

function readBody(bytes: Buffer, maxValues: number, isLenient: boolean): unknown {
  if (bytes.length === 0) return null;
  try {
    return parseExactJsonBody(bytes, maxValues);
  } catch (error) {
    // The filter gets null, and its result replaces the body.
    if (isLenient && error instanceof InvalidBody && !error.isLimitExceeded) return null;
    throw error;
  }
}

/** All values by canonical header name (`Content-Type`). */
function headersByName({ flat }: HeaderList): JsonObject {
  const byName: Record<string, string[]> = Object.create(null);
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase().replaceAll(/(?<![^-])[a-z]/g, letter => letter.toUpperCase());
    byName[name] ??= [];
    byName[name].push(flat[i + 1]!);
  }
  return byName;
}

const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function runFilter(filter: Jq, input: JsonObject, bounds: JqBounds): JsonObject {
  const [result] = filter.run(input, bounds);
  if (!isJsonObject(result) || !Object.hasOwn(result, 'body'))
    throw new JqError('the filter output is not an object with a body');
  return result;
}

function parseHeaderChanges(value: unknown): (readonly [name: string, value: string])[] {
  if (value === null || value === undefined) return [];
  if (!isJsonObject(value)) throw new JqError('rewrite_headers is not an object');
  return Object.entries(value).map(([name, value]) => {
    if (!tokenPattern.test(name) || framingHeaders.has(name.toLowerCase()))
      throw new JqError('a header of this name cannot be set');
    if (typeof value !== 'string') throw new JqError(`the header ${name} is not a string`);
    return [name, escapeHeaderValue(value)] as const;
  });
}

/** Merges the context variables of the filter, for later steps. */
function mergeContext(call: Exchange, value: unknown): void {
  if (isJsonObject(value)) call.context = { ...call.context, ...value };
}
