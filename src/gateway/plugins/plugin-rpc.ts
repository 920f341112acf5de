/** Functions of plugins that the main thread runs: it writes to the database, and holds the store that threads share. */
export interface PluginRpc {
  runPluginFunction(call: PluginFunctionCall): Promise<PluginFunctionResult>;
}

export interface PluginFunctionCall {
  /** Name in scripts, or `writeKeyMetadata`, which the gateway calls. */
  readonly name: string;
  /** Organisation of the API: the only one whose objects a plugin reaches. */
  readonly orgId: string;
  readonly apiId: string;
  readonly args: readonly unknown[];
}

/** A fault is an exception in the script. */
export type PluginFunctionResult = { readonly value?: unknown } | { readonly fault: string };

/** A function cannot do what a script requests; the message is for its author. */
export class PluginFault extends Error {}
