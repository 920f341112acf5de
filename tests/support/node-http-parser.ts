import { createRequire } from 'node:module';

/** Node's binding to llhttp, as node:http uses it. */
export interface NodeParser {
  [callback: number]: unknown;
  initialize(type: number, resource: object, maxHeaderBytes: number, leniency?: number): void;
  execute(bytes: Buffer): number | Error;
  finish(): number | Error | undefined;
}

interface NodeParserClass {
  new (): NodeParser;
  readonly REQUEST: number;
  readonly RESPONSE: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}

export const { HTTPParser, methods } = createRequire(import.meta.url)('node:_http_common') as {
  HTTPParser: NodeParserClass;
  methods: string[];
};
