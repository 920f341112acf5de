import { createPrivateKey, type KeyObject } from 'node:crypto';
import { tokenPattern } from '#base/http-syntax.ts';
import { type RefusalCode, refuse } from '../pipeline/refusals.ts';
import { ApiCompileError, type Step, type StepContext } from '../pipeline/step.ts';
import { byCertificate, sharedSecretHashes, signerOf } from '../proxy/signer.ts';

const usualHeader = 'Authorization';

/** Calls are signed for the upstream, once it is settled what is sent. */
export const requestSigning: Step = {
  name: 'request-signing',
  build(context) {
    const { enabled, keyId, headers, signatureHeader } = context.model.requestSigning;
    if (!enabled) return undefined;
    const fault = faultOf(context);
    if (fault) return { request: call => refuse(call, fault) };
    const name = signatureHeader || usualHeader;
    if (!tokenPattern.test(name)) throw new ApiCompileError('the header of its signatures is not one');
    if (!/^[ !#-~]+$/.test(keyId)) throw new ApiCompileError('the key id of its signatures cannot stand in a header');
    const sign = signerOf(
      {
        keyId,
        algorithm: algorithmOf(context),
        headers: headers.map(it => it.toLowerCase()),
        signatureHeader: name,
        key: keyOf(context),
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

const algorithmOf = ({ model }: StepContext) => model.requestSigning.algorithm.toLowerCase();

function faultOf(context: StepContext): RefusalCode | undefined {
  const { keyId, secret, certificateId } = context.model.requestSigning;
  const algorithm = algorithmOf(context);
  const { allowedAlgorithms } = context.model.hmac;
  if (keyId === '' || algorithm === '' || (secret === '' && certificateId === '')) return 'signing_fields_missing';
  const known = sharedSecretHashes.has(algorithm) || algorithm === byCertificate;
  if (!known || (allowedAlgorithms.length > 0 && !allowedAlgorithms.includes(algorithm)))
    return 'signing_algorithm_unknown';
  return (algorithm === byCertificate ? certificateId : secret) === '' ? 'signing_fields_missing' : undefined;
}

function keyOf(context: StepContext): string | KeyObject {
  const { model, services } = context;
  const { secret, certificateId } = model.requestSigning;
  if (algorithmOf(context) !== byCertificate) return secret;
  const certificate = services.certificates.get(model.identity.orgId, certificateId);
  if (!certificate?.privateKey)
    throw new ApiCompileError(`the certificate ${certificateId} is not in the store with its key`);
  const key = createPrivateKey(certificate.privateKey());
  if (key.asymmetricKeyType !== 'rsa')
    throw new ApiCompileError(`the key of the certificate ${certificateId} is not RSA`);
  return key;
}
