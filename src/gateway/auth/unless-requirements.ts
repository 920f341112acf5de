import type { ChainStep } from '../pipeline/step.ts';
import { clientCertificatesStep } from './client-certificates.ts';
import type { AuthServices } from './services.ts';

/** A step that runs on its own only without security requirements: they run it themselves. */
export const unlessRequirements = <S>(step: ChainStep<S>): ChainStep<S> => ({
  ...step,
  build: context => (context.model.securityRequirements.length > 0 ? undefined : step.build(context)),
});

/** Mutual TLS as one of the security requirements is not required of every request. */
export const clientCertificatesUnlessRequired: ChainStep<Pick<AuthServices, 'certificates' | 'clock'>> = {
  ...clientCertificatesStep,
  build: context =>
    context.model.securityRequirements.some(({ requiresCertificate: certificate }) => certificate)
      ? undefined
      : clientCertificatesStep.build(context),
};
