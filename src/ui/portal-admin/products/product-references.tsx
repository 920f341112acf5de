import { Plus, Trash2, Upload } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { useWrite } from '../../kit/queries.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { PortalProduct } from './portal-product.ts';
import { productReads, type ReferencePart, ReferenceUpload } from './reference-upload.tsx';
import { RemovePart } from './remove-part.tsx';
import { SpecDialog } from './spec-dialog.tsx';

const own = adminTexts.references;
type Spec = PortalProduct['SpecDetails'][number];

/** Where the reference of an API comes from: an uploaded file wins over an address. */
const describeSource = ({ OASUrl }: { readonly OASUrl: string }) => (OASUrl === '' ? own.noAddress : OASUrl);

/** Documents that the site shows as API references: one of each API, and specifications without an API. */
export function ProductReferences({ product: { ID, APIDetails, SpecDetails } }: { product: PortalProduct }) {
  const product_id = String(ID);
  const [uploaded, setUploaded] = useState<ReferencePart>();
  const [removed, setRemoved] = useState<Spec>();
  const [isAdding, setAdding] = useState(false);
  const remove = useWrite('DELETE /portal-api/products/{product_id}/spec-details/{spec_id}', productReads);
  return (
    <Card
      title={own.title}
      action={
        <Button icon={Plus} onClick={() => setAdding(true)}>
          {own.add}
        </Button>
      }
    >
      <p className="mb-3 text-dim">{own.about}</p>
      <ul className="flex flex-col gap-2">
        {APIDetails.map(({ APIID, Name, OASUrl }) => (
          <li key={APIID} className="flex flex-wrap items-center gap-2">
            <span className="font-medium">{Name}</span>
            <span className="min-w-0 break-all text-dim">{describeSource({ OASUrl })}</span>
            <IconButton
              icon={Upload}
              label={own.upload(Name)}
              onClick={() => setUploaded({ kind: 'api', id: APIID, name: Name })}
            />
          </li>
        ))}
        {SpecDetails.map(spec => (
          <li key={spec.ID} className="flex flex-wrap items-center gap-2">
            <span className="font-medium">{spec.Name || spec.SpecAlias}</span>
            <span className="min-w-0 break-all text-dim">{describeSource(spec)}</span>
            <IconButton
              icon={Upload}
              label={own.upload(spec.Name || spec.SpecAlias)}
              onClick={() => setUploaded({ kind: 'spec', id: String(spec.ID), name: spec.Name || spec.SpecAlias })}
            />
            <IconButton
              icon={Trash2}
              label={own.remove(spec.Name || spec.SpecAlias)}
              onClick={() => setRemoved(spec)}
            />
          </li>
        ))}
      </ul>
      {isAdding && <SpecDialog productId={product_id} onClose={() => setAdding(false)} />}
      {uploaded && <ReferenceUpload productId={product_id} part={uploaded} onClose={() => setUploaded(undefined)} />}
      {removed && (
        <RemovePart
          action={own.remove(removed.Name || removed.SpecAlias)}
          consequence={own.removeConsequence}
          remove={() => remove.mutateAsync({ given: { params: { product_id, spec_id: String(removed.ID) } } })}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Card>
  );
}
