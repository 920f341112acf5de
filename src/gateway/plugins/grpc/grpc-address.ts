/** Server of plugins in gRPC: `tcp://host:port` in clear text, `tls://host:port` over TLS. */
export interface GrpcAddress {
  readonly isTls: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** `host:port` */
  readonly authority: string;
}

const addressPattern = /^(tcp|tls):\/\/(\[[0-9a-fA-F:.]+\]|[\w.-]{1,253}):(\d{1,5})$/;

/** Undefined for text that is no address. */
export function parseGrpcAddress(text: string): GrpcAddress | undefined {
  const [, scheme, host = '', digits] = addressPattern.exec(text) ?? [];
  const port = Number(digits);
  if (scheme === undefined || port < 1 || port > 65_535) return undefined;
  return { isTls: scheme === 'tls', host: host.replace(/^\[|\]$/g, ''), port, authority: `${host}:${port}` };
}
