import { IsNotEmpty, IsString, MaxLength } from 'class-validator'

export class CreateOrderDto {
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  operatorCode: string

  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  tariffCode: string

  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  externalId: string
}
