import { Body, Controller, HttpCode, HttpStatus, Param, ParseUUIDPipe, Post, Res } from '@nestjs/common'
import type { Response } from 'express'
import { BankId } from '../auth/bank-id.decorator.js'
import { ConfirmOrderDto } from './dto/confirm-order.dto.js'
import { CreateOrderDto } from './dto/create-order.dto.js'
import { toConfirmationResponse, toOrderResponse } from './dto/order.response.js'
import { OrdersService } from './orders.service.js'

@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  async reserve(@BankId() bankId: string, @Body() dto: CreateOrderDto, @Res({ passthrough: true }) response: Response) {
    const { order, created } = await this.orders.reserve(bankId, dto)
    response.status(created ? HttpStatus.CREATED : HttpStatus.OK)
    return toOrderResponse(order)
  }

  @Post(':orderId/confirm')
  @HttpCode(HttpStatus.OK)
  async confirm(
    @BankId() bankId: string,
    @Param('orderId', ParseUUIDPipe) orderId: string,
    @Body() _dto: ConfirmOrderDto,
  ) {
    return toConfirmationResponse(await this.orders.confirm(bankId, orderId))
  }
}
