import { type Answer, isEndless } from '../answer.ts';
import { noBytes, problem } from '../body.ts';
import type { EndpointMatcher } from '../endpoint-match.ts';
import type { Exchange } from '../exchange.ts';
import { type RefusalCode, refuse } from '../refusals.ts';
import type { Made, Step, StepContext } from '../step.ts';
import { type BodyData, type BodyFormat, bodyData } from '../transforms/body-data.ts';
import { type BodyTransform, bodyTransforms, describesAnew, isFault } from '../transforms/body-transform.ts';
import { isPacked, Packed, readCodings, unpacked } from '../transforms/content-coding.ts';

/** Writes the body of an answer anew, from a template over what the upstream said. */
export const transformResponseBody = writesResponseBody('transform-response-body', context =>
  bodyTransforms(context.version.endpoints.transformResponseBody, context, dataOf),
);

type Transforms = (context: StepContext) => EndpointMatcher<BodyTransform> | undefined;

/** A step that writes the bodies of answers anew. */
export function writesResponseBody(name: string, transforms: Transforms): Step {
  return { name, make: context => made(transforms(context), context) };
}

function made(matcher: ReturnType<Transforms>, { tools }: StepContext): Made | undefined {
  if (!matcher) return undefined;
  const most = tools.settings['gateway.held_body_bytes'];

  function failed(call: Exchange, { path }: BodyTransform, reason: string): void {
    tools.log.warn({ api: call.api?.id, endpoint: path, reason }, 'a response body was not transformed');
  }

  const applies = (call: Exchange, given: Answer) =>
    hasBody(given) && !isEndless(given) ? matcher.find(call) : undefined;

  function written(call: Exchange, given: Answer, transform: BodyTransform, bytes: Buffer): void {
    try {
      const body = transform.write(call, bytes, given.headers);
      if (!body) return;
      given.body.replace(body);
      describesAnew(given.headers);
      given.headers.remove('accept-ranges');
    } catch (error) {
      if (!isFault(error)) throw error;
      failed(call, transform, error.message);
      if (error.isBound) become(call, given, 'response_transform_bound');
    }
  }

  async function read(call: Exchange, given: Answer, transform: BodyTransform, coding: string): Promise<void> {
    try {
      written(call, given, transform, await unpacked(given.body.bytes ?? noBytes, coding, most));
    } catch (error) {
      if (error instanceof Packed) failed(call, transform, error.message);
      else if ((error as { code?: string }).code === problem.too_large.code) become(call, given, 'answer_too_large');
      else throw error;
    }
  }

  return {
    request(call) {
      if (!matcher.find(call)) return undefined;
      // Only the whole of an answer can be written anew, and only one that can be unpacked.
      call.headers.remove('range');
      call.headers.remove('if-range');
      if (call.headers.has('accept-encoding')) call.headers.set('Accept-Encoding', readCodings);
      return undefined;
    },
    needsBody: (call, given) => applies(call, given) !== undefined,
    response(call, given) {
      const transform = applies(call, given);
      if (!transform) return;
      if (isHead(call) && given.body.bytes === undefined) {
        // How long the body would be is known to nobody who has not made it.
        given.headers.remove('content-length');
        return;
      }
      const coding = given.headers.get('content-encoding');
      if (isPacked(coding)) return read(call, given, transform, coding);
      written(call, given, transform, given.body.bytes ?? noBytes);
    },
  };
}

const isHead = ({ upstreamMethod, method }: Exchange) => (upstreamMethod ?? method) === 'HEAD';
const hasBody = ({ status }: Answer) => status !== 101 && status !== 204 && status !== 304;

/** What cannot be read is nothing: the template then says what callers get. */
function dataOf(bytes: Buffer, format: BodyFormat): BodyData {
  try {
    return bodyData(bytes, format);
  } catch (error) {
    if (isFault(error) && !error.isBound) return {};
    throw error;
  }
}

/** In place of what the upstream said, which was more than can be worked on. */
function become(call: Exchange, given: Answer, code: RefusalCode): void {
  const refused = refuse(call, code);
  given.status = refused.status;
  given.headers.flat.splice(0, given.headers.flat.length, ...refused.headers.flat);
  given.body = refused.body;
  call.status = refused.status;
}
