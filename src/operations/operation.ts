import type { z } from 'zod';
import type { ProblemFactory } from '#base/problems.ts';
import type { Actor } from './actor.ts';

export type SurfaceName = 'gateway' | 'dashboard' | 'admin' | 'portal';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * How the body travels. JSON is read whatever the content type says; a `document` is YAML where the content type says so,
 * the file of a multipart form in either notation, and JSON otherwise; a list names the only media types accepted;
 * `text` is the body as it is; `upload` is one file of a multipart form (or the body as it is); `form` is a URL-encoded form.
 */
export type BodyKind = 'json' | 'document' | 'text' | 'upload' | 'form' | { only: readonly string[] };

/** The object that reads of a resource return around it: a write takes the resource alone, or inside it. */
export interface BodyEnvelope {
  /** The member that holds the resource. */
  readonly body: string;
  /** The other members, which a write passes over. */
  readonly beside: readonly string[];
}

/** What a caller must hold: a dashboard permission and level, to be any active user, or the surface's own secret. */
export type Permission = `${string}:${'read' | 'write'}` | 'admin' | 'any user' | 'secret';

type Shape = z.ZodType;
type Out<S> = S extends Shape ? z.output<S> : undefined;

/** What a handler knows of the call. */
export interface OperationCall<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly actor: Actor;
  readonly address: string;
  /** Names the object that changed, for the audit record; and its organisation, where that is not the caller's. */
  audit(object: string, orgId?: string): void;
  /** Sends this header with the answer, if there is one; a refusal comes without. */
  header(name: string, value: string): void;
}

export interface Operation<
  P extends Shape | undefined = Shape | undefined,
  Q extends Shape | undefined = Shape | undefined,
  B extends Shape | undefined = Shape | undefined,
  R extends Shape = Shape,
  Tools = never,
> {
  readonly name: string;
  readonly surface: SurfaceName;
  readonly method: Method;
  /** With `{parameters}`. */
  readonly path: string;
  readonly about: string;
  /** Groups operations in documents: keys, policies, apps… */
  readonly noun: string;
  readonly permission: Permission;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly envelope?: BodyEnvelope;
  readonly accepts?: BodyKind;
  readonly returns: R;
  /** Status of success; 200 unless said. */
  readonly status?: number;
  /** The answer is sent as this media type, the handler's text as it is. JSON unless said. */
  readonly produces?: string;
  readonly problems?: readonly ProblemFactory[];
  handle(call: OperationCall<Out<P>, Out<Q>, Out<B>>, tools: Tools): Promise<z.input<R>>;
}

/** An operation whose particulars are not known here: what lists and walks hold. */
export type AnyOperation = Operation<Shape | undefined, Shape | undefined, Shape | undefined, Shape, never>;

/** Declares an operation; the types of the handler, and of the client that calls it, follow from the shapes. */
export function operation<
  const M extends Method,
  const Path extends string,
  const P extends Shape | undefined = undefined,
  const Q extends Shape | undefined = undefined,
  const B extends Shape | undefined = undefined,
  const R extends Shape = Shape,
  Tools = unknown,
>(declared: Operation<P, Q, B, R, Tools> & { method: M; path: Path }) {
  return declared;
}

/** Everything the handlers of a list need, together; a handler may need nothing. */
export type ToolsOf<List extends readonly unknown[]> =
  ConsumerOf<List[number]> extends (value: infer All) => void ? All : never;
type ConsumerOf<Each> = Each extends { handle(call: never, tools: infer Tools): unknown }
  ? (value: Tools) => void
  : never;

export const isMutation = (it: Pick<AnyOperation, 'method'>): boolean => it.method !== 'GET';
