import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A software authenticator: real keys and signatures, in the encodings of Web Authentication. */

export type PasskeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

/** What a test changes of a ceremony. */
export interface CeremonyFault {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly userHandle?: string;
  readonly signCount?: number;
  /** Flags that are not set: 1 user present, 4 user verified; or set besides. */
  readonly withoutFlags?: number;
  readonly withFlags?: number;
  readonly crossOrigin?: boolean;
  readonly key?: KeyObject;
  /** Changes the encoded public key. */
  readonly coseKey?: Buffer;
  readonly surplus?: Buffer;
}

const head = (type: number, value: number): Buffer => {
  const initial = type << 5;
  if (value < 24) return Buffer.from([initial | value]);
  if (value < 256) return Buffer.from([initial | 24, value]);
  return Buffer.from([initial | 25, value >> 8, value & 255]);
};

type Encodable = number | string | Buffer | ReadonlyMap<number | string, Encodable>;

export function encodeCbor(value: Encodable): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const members = [...value].flatMap(([name, member]) => [encodeCbor(name), encodeCbor(member)]);
  return Buffer.concat([head(5, value.size), ...members]);
}

const sha256 = (value: string | Buffer) => createHash('sha256').update(value).digest();
const toBytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64url');

function createKeys(algorithm: PasskeyAlgorithm) {
  const { publicKey, privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : algorithm === 'EdDSA'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { x, y, n, e } = publicKey.export({ format: 'jwk' });
  const members: Record<PasskeyAlgorithm, [number, Encodable][]> = {
    ES256: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, toBytes(x)],
      [-3, toBytes(y)],
    ],
    EdDSA: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, toBytes(x)],
    ],
    RS256: [
      [1, 3],
      [3, -257],
      [-1, toBytes(n)],
      [-2, toBytes(e)],
    ],
  };
  return { privateKey, coseKey: encodeCbor(new Map(members[algorithm])) };
}

/** Options of a ceremony as the product returns them. */
interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

export function createAuthenticator(origin: string, algorithm: PasskeyAlgorithm = 'ES256') {
  const { privateKey, coseKey } = createKeys(algorithm);
  const id = randomBytes(16);
  let signCount = 0;
  let userHandle = '';

  const clientData = (type: string, { challenge }: Options, fault: CeremonyFault) =>
    Buffer.from(
      JSON.stringify({
        type: fault.type ?? type,
        challenge: fault.challenge ?? challenge,
        origin: fault.origin ?? origin,
        crossOrigin: fault.crossOrigin ?? false,
      }),
    );

  function authenticatorData({ rp, rpId }: Options, fault: CeremonyFault, flags: number, credential: Buffer): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(fault.signCount ?? signCount);
    const set = ((flags | 5) & ~(fault.withoutFlags ?? 0)) | (fault.withFlags ?? 0);
    const surplus = fault.surplus ?? Buffer.alloc(0);
    const rpIdHash = sha256(fault.rpId ?? rp?.id ?? rpId ?? '');
    return Buffer.concat([rpIdHash, Buffer.from([set]), counter, credential, surplus]);
  }

  return {
    id: id.toString('base64url'),

    /** The answer to `navigator.credentials.create`, as JSON. */
    create(options: Options, fault: CeremonyFault = {}) {
      userHandle = options.user!.id;
      const length = Buffer.from([0, id.length]);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, fault.coseKey ?? coseKey]);
      const authData = authenticatorData(options, fault, 64, attested);
      const attestation = new Map<string, Encodable>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]);
      return {
        id: id.toString('base64url'),
        rawId: id.toString('base64url'),
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData('webauthn.create', options, fault).toString('base64url'),
          attestationObject: encodeCbor(attestation).toString('base64url'),
          transports: ['internal'],
        },
      };
    },

    /** The answer to `navigator.credentials.get`, as JSON. */
    get(options: Options, fault: CeremonyFault = {}) {
      signCount++;
      const client = clientData('webauthn.get', options, fault);
      const data = authenticatorData(options, fault, 0, Buffer.alloc(0));
      const digest = algorithm === 'EdDSA' ? null : 'sha256';
      const signature = sign(digest, Buffer.concat([data, sha256(client)]), fault.key ?? privateKey);
      return {
        id: id.toString('base64url'),
        rawId: id.toString('base64url'),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: fault.userHandle ?? userHandle,
        },
      };
    },
  };
}
