import { ProtobufWriter } from '../protobuf/protobuf-writer.ts';
import { formatAttributes, formatText, writeAttributes } from './encode-attributes.ts';
import type { OtlpAttributes, OtlpProtocol } from './span.ts';

/** Source of telemetry: the attributes of the process, and the name of what produced it. */
export interface OtlpSource {
  readonly attributes: OtlpAttributes;
  readonly scope: string;
  readonly version: string;
}

/** Attributes of OpenTelemetry's resource conventions. */
export const describeSource = (process: {
  readonly serviceName: string;
  readonly version: string;
  readonly instanceId: string;
}): OtlpSource => ({
  attributes: [
    'service.name',
    process.serviceName,
    'service.version',
    process.version,
    'service.instance.id',
    process.instanceId,
  ],
  scope: 'gatewright',
  version: process.version,
});

/** URL of a signal: the default path is added to an origin, as OTLP/HTTP has it. */
export function toSignalUrl(endpoint: string, defaultPath: string): string {
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = defaultPath;
  return url.href;
}

/** Member names of a signal in JSON; Protocol Buffers give all signals the same numbers. */
export interface OtlpSignal {
  readonly resources: string;
  readonly scopes: string;
  readonly items: string;
}

export const traceSignal: OtlpSignal = { resources: 'resourceSpans', scopes: 'scopeSpans', items: 'spans' };
export const metricSignal: OtlpSignal = { resources: 'resourceMetrics', scopes: 'scopeMetrics', items: 'metrics' };

/** Export request: `resource_…` 1; in it `resource` 1 and `scope_…` 2; in that `scope` 1 and the items, 2. */
const fields = { resources: 1, resource: 1, scopes: 2, scope: 1, attributes: 1, name: 1, version: 2 } as const;

/** Returns the function that wraps encoded items of one signal and source into the body of an export request. */
export function createFrame(
  protocol: OtlpProtocol,
  { resources, scopes, items }: OtlpSignal,
  { attributes, scope, version }: OtlpSource,
): (parts: readonly Uint8Array[]) => Buffer {
  if (protocol === 'json') {
    const resourceText = `{"resource":{"attributes":${formatAttributes(attributes)}}`;
    const scopeText = `{"scope":{"name":${formatText(scope)},"version":${formatText(version)}}`;
    const head = Buffer.from(`{"${resources}":[${resourceText},"${scopes}":[${scopeText},"${items}":[`);
    const tail = Buffer.from(']}]}]}');
    const comma = Buffer.from(',');
    return parts => Buffer.concat([head, ...parts.flatMap((part, at) => (at === 0 ? [part] : [comma, part])), tail]);
  }
  const resourceBytes = encodeMessage(fields.resource, writer =>
    writeAttributes(writer, fields.attributes, attributes),
  );
  const scopeBytes = encodeMessage(fields.scope, writer => {
    writer.writeString(fields.name, scope);
    writer.writeString(fields.version, version);
  });
  return parts => {
    const scopeSize = parts.reduce((sum, part) => sum + part.length, scopeBytes.length);
    const scopesHead = encodeLength(fields.scopes, scopeSize);
    const resourcesHead = encodeLength(fields.resources, resourceBytes.length + scopesHead.length + scopeSize);
    return Buffer.concat([resourcesHead, resourceBytes, scopesHead, scopeBytes, ...parts]);
  };
}

function encodeMessage(field: number, write: (writer: ProtobufWriter) => void): Uint8Array {
  const writer = new ProtobufWriter();
  const start = writer.beginMessage(field);
  write(writer);
  writer.endMessage(start);
  return writer.drain();
}

function encodeLength(field: number, size: number): Uint8Array {
  const writer = new ProtobufWriter();
  writer.writeMessageHead(field, size);
  return writer.drain();
}
