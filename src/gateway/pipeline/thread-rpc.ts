import { problems } from '#base/problems.ts';

/**
 * RPC between threads over a MessagePort. Calls have a timeout and at most `maxPendingRequests` wait. Arguments and
 * results are structured-cloned: plain data only.
 */
export interface RpcRequest {
  readonly kind: 'rpc-request';
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

export interface RpcResponse {
  readonly kind: 'rpc-response';
  readonly id: number;
  readonly value?: unknown;
  /** Error message, in place of a value. */
  readonly error?: string;
}

type RpcHandlers = Readonly<Record<string, (argument: never) => Promise<unknown>>>;

type ArgumentOf<It> = It extends (argument: infer Argument) => unknown ? Argument : never;
type ResultOf<It> = It extends (argument: never) => Promise<infer Result> ? Result : never;

/** Calls a method of `Table`. */
export type RpcCall<Table> = <Name extends keyof Table & string>(
  name: Name,
  argument: ArgumentOf<Table[Name]>,
  timeoutMs: number,
) => Promise<ResultOf<Table[Name]>>;

/** Calls a method on every thread. */
export type RpcBroadcast<Table> = <Name extends keyof Table & string>(
  name: Name,
  argument: ArgumentOf<Table[Name]>,
  timeoutMs: number,
) => Promise<ResultOf<Table[Name]>[]>;

export const problem = problems('thread_rpc', {
  no_threads: {
    status: 503,
    message: 'This process serves no API traffic; send the request to one that runs with --role gateway or all',
  },
  too_many: { status: 503, message: 'Too many requests of this kind are in progress; try again' },
  timed_out: { status: 503, message: 'No traffic thread responded within {timeoutMs} ms; try again' },
  ended: { status: 503, message: 'The traffic thread ended before it responded; try again' },
});

/** Requests to one thread that may be pending at once. */
const maxPendingRequests = 1000;

interface PendingRequest {
  readonly timer: NodeJS.Timeout;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export function createRpcClient<Table>(post: (request: RpcRequest) => void, maxPending = maxPendingRequests) {
  const pending = new Map<number, PendingRequest>();
  let lastId = 0;

  function takePending(id: number): PendingRequest | undefined {
    const request = pending.get(id);
    if (request) clearTimeout(request.timer);
    pending.delete(id);
    return request;
  }

  const call = (name: string, argument: unknown, timeoutMs: number) =>
    new Promise<unknown>((resolve, reject) => {
      if (pending.size >= maxPending) throw problem.too_many();
      const id = ++lastId;
      const timer = setTimeout(() => takePending(id)?.reject(problem.timed_out({ detail: { timeoutMs } })), timeoutMs);
      pending.set(id, { timer, resolve, reject });
      post({ kind: 'rpc-request', id, name, argument });
    });

  return {
    call: call as RpcCall<Table>,
    /** Settles the pending request; a response after its timeout is ignored. */
    receive({ id, value, error }: RpcResponse): void {
      const request = takePending(id);
      if (error === undefined) request?.resolve(value);
      else request?.reject(new Error(`RPC failed: ${error}`));
    },
    /** Rejects all pending requests: the thread has ended. */
    rejectAll(): void {
      for (const id of [...pending.keys()]) takePending(id)?.reject(problem.ended());
    },
  };
}

export function createRpcServer(handlers: RpcHandlers, post: (response: RpcResponse) => void) {
  return async ({ id, name, argument }: RpcRequest): Promise<void> => {
    try {
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
      if (!handler) throw new Error(`unknown RPC method ${name}`);
      post({ kind: 'rpc-response', id, value: await handler(argument as never) });
    } catch (error) {
      post({ kind: 'rpc-response', id, error: (error as Error).message });
    }
  };
}
