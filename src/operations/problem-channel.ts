import { channel } from 'node:diagnostics_channel';

/** Error response of an operation. */
export interface OperationProblem {
  /** Name of the operation. */
  readonly operation: string;
  readonly code: string;
}

export const problemChannelName = 'gatewright.operation.problem';
const problemChannel = channel(problemChannelName);

/** Diagnostics channel of error responses, with the code that a surface does not send; without subscribers it is free. */
export function publishProblem({ name: operation }: { readonly name: string }, code: string): void {
  if (problemChannel.hasSubscribers) problemChannel.publish({ operation, code } satisfies OperationProblem);
}
