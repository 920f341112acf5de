import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { uploadFile } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { FileUploadDialog } from '../forms/file-upload-dialog.tsx';
import type { PortalProduct } from './portal-product.ts';
import { productReads } from './reference-upload.tsx';

const own = adminTexts.productImages;
const kinds = ['logo', 'preview'] as const;
type ImageKind = (typeof kinds)[number];

/** Images of a product: logo of its page, preview of its card in the catalogue. Each is stored at once. */
export function ProductImages({ product }: { product: PortalProduct }) {
  const [chosen, setChosen] = useState<ImageKind>();
  const params = { product_id: String(product.ID) };
  const routes = {
    logo: 'POST /portal-api/products/{product_id}/logo',
    preview: 'POST /portal-api/products/{product_id}/preview',
  } as const;
  return (
    <Card title={own.title}>
      <div className="grid gap-6 md:grid-cols-2">
        {kinds.map(kind => (
          <ProductImage key={kind} kind={kind} product={product} onUpload={() => setChosen(kind)} />
        ))}
      </div>
      {chosen && (
        <FileUploadDialog
          title={own.upload[chosen]}
          about={own.uploadAbout}
          label={own.file}
          accept="image/png,image/jpeg,image/gif,image/webp"
          action={own.send}
          done={own.uploaded[chosen]}
          reads={productReads}
          send={file => uploadFile(routes[chosen], file, params)}
          onClose={() => setChosen(undefined)}
        />
      )}
    </Card>
  );
}

interface ProductImageProps {
  readonly kind: ImageKind;
  readonly product: PortalProduct;
  onUpload(): void;
}

function ProductImage({ kind, product: { ID, Logo, Preview, UpdatedAt }, onUpload }: ProductImageProps) {
  const logo = useWrite('DELETE /portal-api/products/{product_id}/logo', productReads);
  const preview = useWrite('DELETE /portal-api/products/{product_id}/preview', productReads);
  const toasts = useToasts();
  const remove = kind === 'logo' ? logo : preview;
  const path = kind === 'logo' ? Logo : Preview;
  const change = () =>
    remove.mutate(
      { given: { params: { product_id: String(ID) } } },
      {
        onSuccess: () => toasts.showSuccess(own.removed[kind]),
        onError: error => toasts.showError(error.message),
      },
    );
  return (
    <div className="flex flex-col gap-3">
      <h3 className="font-medium">{own.names[kind]}</h3>
      <p className="text-dim">{own.help[kind]}</p>
      {path === '' ? (
        <p className="text-dim">{own.none}</p>
      ) : (
        // The time of the change is part of the address: a replaced image is read again.
        <img
          src={`${path}?changed=${encodeURIComponent(UpdatedAt)}`}
          alt={own.names[kind]}
          className="aspect-[7/4] w-full max-w-xs rounded-card border border-line object-contain"
        />
      )}
      <div className="flex flex-wrap gap-2">
        <Button onClick={onUpload}>{own.upload[kind]}</Button>
        {path !== '' && (
          <Button isBusy={remove.isPending} onClick={change}>
            {own.remove[kind]}
          </Button>
        )}
      </div>
    </div>
  );
}
