import { createPrivateKey, type KeyObject } from 'node:crypto';
import { tokenPattern } from '#base/http-syntax.ts';
import type { AuthServices } from '../auth/services.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import { ApiCompileError, type Step, type StepContext, type StepReads } from '../pipeline/step.ts';
import { certificateAlgorithm, createSigner, sharedSecretHashes } from '../proxy/signer.ts';

const defaultSignatureHeader = 'Authorization';

type Services = Pick<AuthServices, 'certificates' | 'clock'>;

const reads = { api: ['requestSigning'], also: { api: ['hmac'] } } as const satisfies StepReads;

/** Signs upstream requests; the signer runs when the request is final. */
export const requestSigningStep: Step<Services, typeof reads> = {
  name: 'request-signing',
  reads,
  build(context) {
    const { enabled, keyId, headers, signatureHeader } = context.model.requestSigning;
    if (!enabled) return undefined;
    const configError = findConfigError(context);
    if (configError) return { request: call => refuse(call, configError) };
    const name = signatureHeader || defaultSignatureHeader;
    if (!tokenPattern.test(name)) throw new ApiCompileError('the signature header name is invalid');
    if (!/^[ !#-~]+$/.test(keyId)) throw new ApiCompileError('the signature key id is not a valid header value');
    const sign = createSigner(
      {
        keyId,
        algorithm: getAlgorithm(context),
        headers: headers.map(it => it.toLowerCase()),
        signatureHeader: name,
        key: loadSigningKey(context),
      },
      context.services.clock,
    );
    return {
      request(call) {
        call.sign = sign;
        return undefined;
      },
    };
  },
};

const getAlgorithm = ({ model }: StepContext<Services, typeof reads>) => model.requestSigning.algorithm.toLowerCase();

function findConfigError(context: StepContext<Services, typeof reads>): RefusalCode | undefined {
  const { keyId, secret, certificateId } = context.model.requestSigning;
  const algorithm = getAlgorithm(context);
  const { allowedAlgorithms } = context.model.hmac;
  if (keyId === '' || algorithm === '' || (secret === '' && certificateId === '')) return 'signing_fields_missing';
  const known = sharedSecretHashes.has(algorithm) || algorithm === certificateAlgorithm;
  if (!known || (allowedAlgorithms.length > 0 && !allowedAlgorithms.includes(algorithm)))
    return 'signing_algorithm_unknown';
  return (algorithm === certificateAlgorithm ? certificateId : secret) === '' ? 'signing_fields_missing' : undefined;
}

function loadSigningKey(context: StepContext<Services, typeof reads>): string | KeyObject {
  const { model, services } = context;
  const { secret, certificateId } = model.requestSigning;
  if (getAlgorithm(context) !== certificateAlgorithm) return secret;
  const certificate = services.certificates.get(model.identity.orgId, certificateId);
  if (!certificate?.privateKey)
    throw new ApiCompileError(`the certificate ${certificateId} is not in the certificate store with its private key`);
  const key = createPrivateKey(certificate.privateKey());
  if (key.asymmetricKeyType !== 'rsa')
    throw new ApiCompileError(`the key of the certificate ${certificateId} is not RSA`);
  return key;
}
