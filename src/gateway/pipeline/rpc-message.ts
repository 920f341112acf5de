import type { PrimitiveType } from '#definition/mcp-names.ts';

/** JSON-RPC message of an MCP client, as the steps of an MCP proxy read it. */
export interface RpcMessage {
  /** Empty for a message that has none: a response of the client, or one that was refused before. */
  readonly method: string;
  /** The id as JSON text; `null` without one. */
  readonly id: string;
  readonly primitiveType: PrimitiveType | '';
  /** Name of a tool or prompt, URI of a resource, as sent. */
  readonly primitiveName: string;
  /** Virtual path of the method. */
  readonly methodPath: string;
  /** Virtual path of the name of the primitive; empty for none. */
  readonly ownPath: string;
  /** Virtual path of the entry of the definition that applies to the primitive, else of its own name. */
  readonly primitivePath: string;
  /** The same of the name exactly as sent, where it has another reading: rules must hold for both. Empty for none. */
  readonly otherPath: string;
}

/** Stands for a message that is refused before it is parsed. */
export const unknownMessage: RpcMessage = {
  method: '',
  id: 'null',
  primitiveType: '',
  primitiveName: '',
  methodPath: '',
  ownPath: '',
  primitivePath: '',
  otherPath: '',
};
