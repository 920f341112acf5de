import type { Actor } from '#operations/actor.ts';

/** Author of the objects, in revisions and audit records. */
export const createDemoActor = (orgId: string): Actor => ({
  surface: 'dashboard',
  id: '',
  name: 'gw start --demo',
  orgId,
  permissions: { IsAdmin: 'admin' },
});

interface Handled<Services, Result> {
  readonly body?: { parse(value: unknown): unknown } | undefined;
  handle(call: never, services: Services): Promise<Result>;
}

interface HandlerInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

const ignore = () => undefined;

/** Runs the handler of an operation in this process, with its body checked by its schema. */
export function callHandler<Services, Result>(
  operation: Handled<Services, Result>,
  services: Services,
  { params = {}, body }: HandlerInput,
): Promise<Result> {
  const call = { params, query: {}, body: operation.body?.parse(body), actor: createDemoActor(''), audit: ignore };
  return operation.handle(call as never, services);
}
