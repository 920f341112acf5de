import type { z } from 'zod';
import type { Json } from '#base/json.ts';
import type { ProblemFactory } from '#base/problems.ts';
import type { Actor } from './actor.ts';
import type { VersionedTable } from './entity-tags.ts';
import type { SurfaceName } from './surfaces.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Body encoding. `json` ignores the content type; `document` is JSON, or YAML by content type, or a ZIP archive of files
 * in either, as the body or as the file of a multipart form; a list names the only media types accepted; `text` is the
 * raw body; `upload` is one file of a multipart form (or the raw body); `form` is URL-encoded.
 */
export type BodyKind = 'json' | 'document' | 'text' | 'upload' | 'form' | { only: readonly string[] };

/** Object that reads return around a resource: a write accepts the resource alone, or inside it. */
export interface BodyEnvelope {
  /** The member that holds the resource. */
  readonly body: string;
  /** The other members, which a write ignores. */
  readonly beside: readonly string[];
}

/**
 * Required permission: a dashboard permission and level, any active user, the surface's own secret, or none: `public`
 * operations are those before a sign-in. They read JSON by its media type only, which a form of another site cannot send.
 */
export type Permission = `${string}:${'read' | 'write'}` | 'admin' | 'any user' | 'secret' | 'public';

type Shape = z.ZodType;
type Out<S> = S extends Shape ? z.output<S> : undefined;

/** Response of an operation that another one ran. */
export interface ForwardResult {
  readonly status: number;
  /** Parsed JSON; undefined where the response has none. */
  readonly body: unknown;
}

/** Runs another operation of the listener for the caller of a request. */
export type ForwardRequest = (method: Method, path: string, body?: object) => Promise<ForwardResult>;

/** Request as a handler receives it. */
export interface OperationCall<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly actor: Actor;
  readonly address: string;
  /** The request came over TLS, to this process or to a trusted proxy. */
  readonly isSecure: boolean;
  /** Sets the actor of the audit record of a public operation. */
  identify(actor: Actor): void;
  /** Authenticates the request again, for a response that takes long; rejects where a right has been withdrawn. */
  reauthenticate(): Promise<Actor>;
  /** Sets the object of the audit record, and its organisation where that is not the caller's. */
  audit(object: string, orgId?: string): void;
  /** Sets the objects of several audit records, in place of `audit`. */
  auditEach(objects: readonly string[]): void;
  /** Sets a header of the success response. */
  header(name: string, value: string): void;
  /** Value of a request header that the operation declares; undefined where it is absent. */
  requestHeader(name: string): string | undefined;
  /** True when the client has closed the connection: long work for it can end. */
  isClientGone(): boolean;
  /** Runs another operation of the same surface for the caller, as if the caller had requested it. */
  readonly forward: ForwardRequest;
}

export interface Operation<
  P extends Shape | undefined = Shape | undefined,
  Q extends Shape | undefined = Shape | undefined,
  B extends Shape | undefined = Shape | undefined,
  R extends Shape = Shape,
  Services = never,
> {
  readonly name: string;
  readonly surface: SurfaceName;
  readonly method: Method;
  /** With `{parameters}`. */
  readonly path: string;
  /** The last parameter of the path takes the rest of it, slashes included. */
  readonly matchesRest?: true;
  readonly about: string;
  /** Groups operations in documents: keys, policies, apps… */
  readonly noun: string;
  readonly permission: Permission;
  /** A second permission that the caller needs too. */
  readonly furtherPermission?: Permission;
  /**
   * Table of the one object that the operation reads or writes: reads get an ETag, and conditional requests are
   * evaluated (RFC 9110, 13). The object is the first row of the table that the handler reads, or writes.
   */
  readonly versioned?: VersionedTable;
  /**
   * A create that accepts Idempotency-Key: it changes the database alone, and runs in one transaction. `without
   * password`: the handler hashes a password of the body, which takes too long for a transaction.
   */
  readonly isRepeatable?: true | 'without password';
  /** Changes configuration that traffic threads load: the operation accepts `?wait=applied`. */
  readonly changesTraffic?: true;
  /** Its method is that of a write, but it changes nothing. */
  readonly changesNothing?: true;
  /** Name and meaning of its tool, where agents find others more easily than those of the operation. */
  readonly tool?: { readonly name: string; readonly about?: string };
  /** The rules of the organisation do not apply. */
  readonly ignoresRules?: true;
  readonly params?: P;
  readonly query?: Q;
  /** Request headers that the handler reads, lower case, each with its meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: B;
  /** Example request body of the API reference; one is built from the schema where there is none. */
  readonly example?: Json;
  readonly envelope?: BodyEnvelope;
  readonly accepts?: BodyKind;
  /**
   * Bulk write of many objects: its body may have `management.max_bulk_body_bytes`. The rules of the organisation see
   * the request without its body; the handler enforces them for each object.
   */
  readonly isBulk?: true;
  /** Permissions of which a caller needs one for a body above `management.max_body_bytes`. */
  readonly bulkPermissions?: readonly string[];
  readonly returns: R;
  /** Success status; default 200. */
  readonly status?: number;
  /** Response media type, with the handler's text as the body; default JSON. */
  readonly produces?: string;
  /** Media types of the file that the handler returns, one of which it has; in place of `produces`. */
  readonly producesFile?: readonly string[];
  /** Media types of the file that the handler streams, one of which it has; in place of `produces`. */
  readonly streamsFile?: readonly string[];
  /** The query parameter `pretty=true` indents the JSON of the response. */
  readonly offersPretty?: true;
  /** Content negotiation: the response is YAML where `Accept` names a YAML media type (RFC 9110, 12.5.1). */
  readonly offersYaml?: true;
  /** CSV of a success response, sent where the query parameter `type` is `csv`. */
  toCsv?(value: z.output<R>): string;
  /** Items of a success response, sent one per line where the query parameter `type` is `ndjson`. */
  toNdjson?(value: z.output<R>): readonly unknown[];
  readonly problems?: readonly ProblemFactory[];
  handle(call: OperationCall<Out<P>, Out<Q>, Out<B>>, services: Services): Promise<z.input<R>>;
}

/** Operation with erased type parameters, for lists. */
export type AnyOperation = Operation<Shape | undefined, Shape | undefined, Shape | undefined, Shape, never>;

/** Declares an operation; handler and client types follow from its shapes. */
export function operation<
  const M extends Method,
  const Path extends string,
  const P extends Shape | undefined = undefined,
  const Q extends Shape | undefined = undefined,
  const B extends Shape | undefined = undefined,
  const R extends Shape = Shape,
  Services = unknown,
>(declared: Operation<P, Q, B, R, Services> & { method: M; path: Path }) {
  return declared;
}

/** Intersection of the services that the handlers of a list need. */
export type ServicesOf<List extends readonly unknown[]> =
  ConsumerOf<List[number]> extends (value: infer All) => void ? All : never;
type ConsumerOf<Each> = Each extends { handle(call: never, services: infer Services): unknown }
  ? (value: Services) => void
  : never;

/** Permissions that a caller needs, all of them. */
export const listPermissions = ({
  permission,
  furtherPermission,
}: Pick<AnyOperation, 'permission' | 'furtherPermission'>): Permission[] => [
  permission,
  ...(furtherPermission === undefined ? [] : [furtherPermission]),
];

export const isMutation = (it: Pick<AnyOperation, 'method'>): boolean => it.method !== 'GET';
