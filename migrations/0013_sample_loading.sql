-- There while the samples of a first start are being loaded: what such a start has left when it was cut off is no data of the operator's.
create table sample_loading (only_row boolean primary key default true constraint sample_loading_only_row_check check (only_row));
