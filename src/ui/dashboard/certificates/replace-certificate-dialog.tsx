import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useReload } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { replaceInApis } from './replace-certificate.ts';
import { PemDialog } from './upload-dialog.tsx';

const own = texts.certificates;

export interface ReplaceCertificateProps {
  readonly certId: string;
  readonly fingerprint: string;
  onClose(): void;
}

/** Uploads the next certificate and writes its id into all APIs that use this one, which stays until it is deleted. */
export function ReplaceCertificateDialog({ certId, fingerprint, onClose }: ReplaceCertificateProps) {
  const navigate = useNavigate();
  const toasts = useToasts();
  const reload = useReload(['GET /api/certs/{certId}/apis', 'GET /api/certs/dependencies/{certId}', 'GET /api/apis']);
  const replacement = useMutation({
    mutationFn: (nextId: string) => replaceInApis(certId, fingerprint, nextId),
    onSuccess: async ({ replaced, failures }, nextId) => {
      await reload();
      if (failures.length > 0) toasts.showError(own.replaceFailed(failures.join('; ')));
      else toasts.showSuccess(own.replaced(replaced));
      onClose();
      void navigate({ to: '/certificates/$certId', params: { certId: nextId } });
    },
    onError: error => toasts.showError(error.message),
  });
  return (
    <PemDialog
      title={own.replaceTitle}
      about={own.replaceAbout}
      action={own.replaceAction}
      isBusy={replacement.isPending}
      onUploaded={nextId => replacement.mutate(nextId)}
      onClose={onClose}
    />
  );
}
