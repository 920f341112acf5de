import { queryText } from '#base/templates/functions/printing.ts';
import { noBytes } from '../body.ts';
import type { EndpointMatcher } from '../endpoint-match.ts';
import type { Exchange } from '../exchange.ts';
import { refuse } from '../refusals.ts';
import type { Made, Outcome, Step, StepContext } from '../step.ts';
import { bodyData } from '../transforms/body-data.ts';
import { type BodyTransform, bodyTransforms, describesAnew, isFault } from '../transforms/body-transform.ts';
import { isPacked, Packed, unpacked } from '../transforms/content-coding.ts';
import { partsOf, variableValue } from '../variables/variables.ts';

/** Writes the body anew, from a template over what the caller sent. */
export const transformRequestBody = writesRequestBody('transform-request-body', context => {
  const { version, tools } = context;
  const texts = (text: string) =>
    partsOf(text, tools).map(part =>
      typeof part === 'string' ? part : (about: unknown) => escaped(variableValue(part, about as Exchange)),
    );
  return bodyTransforms(version.endpoints.transformRequestBody, context, bodyData, texts);
});

type Transforms = (context: StepContext) => EndpointMatcher<BodyTransform> | undefined;

/** A step that writes request bodies anew. One that cannot be read goes on as it came. */
export function writesRequestBody(name: string, transforms: Transforms): Step {
  return { name, make: context => made(transforms(context), context) };
}

function made(matcher: ReturnType<Transforms>, { tools }: StepContext): Made | undefined {
  if (!matcher) return undefined;
  const most = tools.settings['gateway.held_body_bytes'];

  function failed(call: Exchange, { path }: BodyTransform, reason: string): undefined {
    tools.log.warn({ api: call.api?.id, endpoint: path, reason }, 'a request body was not transformed');
  }

  function written(call: Exchange, transform: BodyTransform, bytes: Buffer): Outcome {
    try {
      const body = transform.write(call, bytes, call.headers);
      if (body) {
        call.body.replace(body);
        describesAnew(call.headers);
      }
      return undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      failed(call, transform, error.message);
      return error.isBound ? refuse(call, 'request_transform_bound') : undefined;
    }
  }

  async function read(call: Exchange, transform: BodyTransform, coding: string | undefined): Promise<Outcome> {
    const bytes = await call.body.read(most);
    try {
      return written(call, transform, isPacked(coding) ? await unpacked(bytes, coding, most) : bytes);
    } catch (error) {
      if (error instanceof Packed) return failed(call, transform, error.message);
      throw error;
    }
  }

  return {
    request(call) {
      if (call.upgrade !== '') return undefined;
      const transform = matcher.find(call);
      if (!transform) return undefined;
      const coding = call.headers.get('content-encoding');
      if (call.body.stream || isPacked(coding)) return read(call, transform, coding);
      return written(call, transform, call.body.bytes ?? noBytes);
    },
  };
}

/** A value can begin nothing new; an address stays one. */
const escaped = (value: string) =>
  value.startsWith('http') ? encodeURI(value.toWellFormed()).replaceAll("'", '%27') : queryText(value);
