import { tokenPattern } from '#base/http-syntax.ts';
import { compileJq, type Jq, type JqBounds, JqError, stringifyJqResult } from '#languages/jq/jq.ts';
import { framing, type HeaderList } from '../http/headers.ts';
import { type EndpointMatcher, endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError, type StepContext } from '../pipeline/step.ts';
import { escapeHeaderValue } from '../variables/variables.ts';
import { BodyUnreadable, readJsonBody } from './body-data.ts';
import type { BodyTransform } from './body-transform.ts';

/** As definitions have it, in either direction. */
interface Wish {
  readonly path: string;
  readonly method: string;
  readonly filter: string;
}

type Bag = Record<string, unknown>;

/** A filter sees the headers of responses too. */
export type Direction = 'request' | 'response';

/** How deep functions may call each other, and values may be. */
const depth = 200;

/** Undefined where there is nothing to do. */
export function jqTransforms(
  wishes: readonly Wish[],
  direction: Direction,
  { model, version, services }: StepContext,
): EndpointMatcher<BodyTransform> | undefined {
  const { settings } = services;
  const bounds = {
    maxSteps: settings['templates.steps'],
    maxOutputs: 1,
    depth,
    maxBytes: settings['gateway.held_body_bytes'],
  };
  const maxValues = settings['gateway.body_values'];
  const isLenient = direction === 'response' && settings['transforms.on_failure'] === 'pass';
  const showsContext = model.contextVariables.enabled;
  const entries = wishes.map(({ path, method, filter: source }) => {
    const filter = filterOf(path, source);
    return {
      path,
      method,
      write(call: Exchange, bytes: Buffer, headers: HeaderList): Buffer | undefined {
        const seen: Bag = { body: readBody(bytes, maxValues, isLenient) };
        if (showsContext && call.context) seen._gw_context = call.context;
        if (direction === 'response') seen._gw_response_headers = listed(headers);
        const result = resultOf(filter, seen, bounds);
        const text = stringifyJqResult(result.body, bounds);
        const changes = headersOf(result.rewrite_headers);
        if (showsContext) changeContext(call, result.gw_context);
        for (const [name, value] of changes) headers.set(name, value);
        // What had no body gets none by nothing being said of it.
        return bytes.length === 0 && text === 'null' ? undefined : Buffer.from(text);
      },
    };
  });
  return endpointMatcher(entries, { model, version, settings });
}

function filterOf(path: string, source: string): Jq {
  if (source.trim() === '') throw new ApiCompileError(`the jq transform of ${path} has no filter`);
  try {
    return compileJq(source);
  } catch (error) {
    if (error instanceof JqError)
      throw new ApiCompileError(`the jq filter of ${path} cannot be read: ${error.message}`, { cause: error });
    throw error;
  }
}

function readBody(bytes: Buffer, maxValues: number, isLenient: boolean): unknown {
  if (bytes.length === 0) return null;
  try {
    return readJsonBody(bytes, maxValues);
  } catch (error) {
    // The filter sees null, and its result is sent, not the body.
    if (isLenient && error instanceof BodyUnreadable && !error.isLimitExceeded) return null;
    throw error;
  }
}

/** Headers by name, each with all its values; names begin their words in upper case, however they came. */
function listed({ flat }: HeaderList): Bag {
  const found: Record<string, string[]> = Object.create(null);
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!.toLowerCase().replaceAll(/(?<![^-])[a-z]/g, letter => letter.toUpperCase());
    found[name] ??= [];
    found[name].push(flat[at + 1]!);
  }
  return found;
}

const isBag = (value: unknown): value is Bag => typeof value === 'object' && value !== null && !Array.isArray(value);

function resultOf(filter: Jq, seen: Bag, bounds: JqBounds): Bag {
  const [result] = filter.run(seen, bounds);
  if (!isBag(result) || !Object.hasOwn(result, 'body')) throw new JqError('the filter gave no object with a body');
  return result;
}

function headersOf(wanted: unknown): (readonly [name: string, value: string])[] {
  if (wanted === null || wanted === undefined) return [];
  if (!isBag(wanted)) throw new JqError('rewrite_headers is not an object');
  return Object.entries(wanted).map(([name, value]) => {
    if (!tokenPattern.test(name) || framing.has(name.toLowerCase()))
      throw new JqError('a header of this name cannot be set');
    if (typeof value !== 'string') throw new JqError(`the header ${name} is not a text`);
    return [name, escapeHeaderValue(value)] as const;
  });
}

/** Later steps see what the filter says of the call, beside what was known. */
function changeContext(call: Exchange, wanted: unknown): void {
  if (isBag(wanted)) call.context = { ...call.context, ...wanted };
}
